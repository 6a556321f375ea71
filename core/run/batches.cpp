#include <tessera/batches.h>

#include <algorithm>

#include "core/base/sizes.h"
#include "core/platform/device_state.h"
#include "core/run/batch.h"
#include "core/run/context_impl.h"

namespace tessera {
namespace {

constexpr std::uint64_t where_nothing_is_known = std::uint64_t{256} << 20;

std::uint64_t bytes_of(const Tensor& tensor) {
  return std::max<std::uint64_t>(byte_count(tensor.shape().size(), tensor.dtype()), 1);
}

// Device memory for one chunk.
std::uint64_t room(const Context& context, const BatchOptions& options) {
  if (options.max_bytes != 0) return options.max_bytes;
  {
    const LockedContext locked(context);
    if (const std::uint64_t budget = locked->pool->budget(); budget != 0) {
      const std::uint64_t used = locked->pool->info().bytes_in_use;
      return budget - std::min(budget, used);
    }
  }
  const DeviceState state = context.device_state();
  return state.memory_free ? *state.memory_free / 2 : where_nothing_is_known;
}

double bytes_of(std::span<const Tensor> tensors) {
  double bytes = 0;
  for (const Tensor& tensor : tensors) bytes += static_cast<double>(bytes_of(tensor));
  return bytes;
}

// The first of the inputs, at least one. `bytes_per_input_byte` is what they take on the device; 0: not known yet.
std::span<const Tensor> next_chunk(const Context& context, std::span<const Tensor> inputs, double bytes_per_input_byte,
                                   const BatchOptions& options) {
  const std::size_t most = options.max_count == 0 ? inputs.size() : std::min(options.max_count, inputs.size());
  if (options.max_count != 0 && options.max_bytes == 0) return inputs.first(most);
  if (bytes_per_input_byte == 0) return inputs.first(1);
  const auto most_bytes = static_cast<double>(room(context, options));
  std::size_t count = 1;
  double bytes = static_cast<double>(bytes_of(inputs[0]));
  for (; count < most; ++count) {
    bytes += static_cast<double>(bytes_of(inputs[count]));
    if (bytes * bytes_per_input_byte > most_bytes) break;
  }
  return inputs.first(count);
}

// Computes the results in one submission, or in several where they do not fit. Gives their peak of device memory.
std::uint64_t compute_together(Context& context, std::span<const Tensor> results) {
  try {
    const LockedContext locked(context);
    Pool& pool = *locked->pool;
    const std::uint64_t before = pool.info().bytes_in_use;
    pool.watch_peak();
    locked->recovery.run([&] { compute(*locked, results); });
    return pool.watched_peak() - std::min(before, pool.watched_peak());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || results.size() < 2) throw;
    ContextAccess::impl(context).messages->debug([&] {
      return "for_each_batch: " + std::to_string(results.size()) +
             " results do not fit together and are split: " + error.what();
    });
  }
  const std::size_t half = results.size() / 2;
  const std::uint64_t first = compute_together(context, results.first(half));
  return first + compute_together(context, results.subspan(half));
}

// The inputs that are on the host only, which a chunk will upload.
std::vector<Tensor> to_be_uploaded(const Context& context, std::span<const Tensor> inputs) {
  std::vector<Tensor> tensors;
  const LockedContext locked(context);
  for (const Tensor& input : inputs) {
    const Node& node = *TensorAccess::node(*locked, input);
    if (node.is<HostValues>() || (node.value.buffer && !node.value.buffer->is_resident())) tensors.push_back(input);
  }
  return tensors;
}

void leave_device(const Context& context, std::span<const Tensor> tensors) {
  const LockedContext locked(context);
  for (const Tensor& tensor : tensors)
    if (const auto& buffer = TensorAccess::node(*locked, tensor)->value.buffer) locked->pool->leave_device(*buffer);
}

void check(const Context& context, std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (TensorAccess::info(inputs[i]).context.get() != &ContextAccess::impl(context))
      throw Error(ErrorCode::invalid_argument,
                  "for_each_batch: input " + std::to_string(i) + " belongs to another context than the one given.");
}

}  // namespace

void for_each_batch(Context& context, std::span<const Tensor> inputs,
                    const std::function<Tensor(const Tensor& input)>& body,
                    const std::function<void(std::size_t index, const Tensor& result)>& take,
                    const BatchOptions& options) {
  if (!body || !take)
    throw Error(ErrorCode::invalid_argument,
                std::string("for_each_batch: there is no function ") + (body ? "to take the results." : "to call."));
  check(context, inputs);
  ContextImpl& impl = ContextAccess::impl(context);
  double bytes_per_input_byte = 0;  // on the device, the most so far; 0: not known yet
  for (std::size_t begin = 0; begin < inputs.size();) {
    const std::span<const Tensor> chunk = next_chunk(context, inputs.subspan(begin), bytes_per_input_byte, options);
    const std::vector<Tensor> uploaded = to_be_uploaded(context, chunk);
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      results.push_back(body(chunk[i]));
      if (TensorAccess::info(results.back()).context.get() != &impl)
        throw Error(ErrorCode::invalid_argument, "for_each_batch: the result for input " + std::to_string(begin + i) +
                                                     " belongs to another context than the one given.");
    }
    const std::uint64_t taken = compute_together(context, results);
    bytes_per_input_byte = std::max({bytes_per_input_byte, 1.0, static_cast<double>(taken) / bytes_of(chunk)});
    leave_device(context, uploaded);
    for (std::size_t i = 0; i < results.size(); ++i) {
      take(begin + i, results[i]);
      results[i].dispose();
    }
    begin += chunk.size();
    if (options.progress) {
      context.wait();
      options.progress(begin, inputs.size());
    }
  }
}

}  // namespace tessera
