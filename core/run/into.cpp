// Tensor::compute_into: results in storages that tensors have already.
#include <algorithm>
#include <string>
#include <utility>

#include "core/base/fail.h"
#include "core/graph/graph.h"
#include "core/run/batch.h"
#include "core/run/context_impl.h"

namespace tessera {
namespace {

constexpr std::string_view into_op = "compute_into";

std::string text_of(const NodeInfo& info) { return info.shape.to_string() + " " + std::string(to_string(info.dtype)); }

// The caller does not hold the lock.
void check_fits(const NodeInfo& result, const NodeInfo& target) {
  if (result.context != target.context)
    fail(ErrorCode::invalid_argument, into_op,
         "the result belongs to a context on " + result.context->device_name() + ", the target to another one on " +
             target.context->device_name() + ".");
  const std::string both = "a result of " + text_of(result) + " does not fit into a target of " + text_of(target) + ".";
  if (result.shape != target.shape) fail(ErrorCode::shape_mismatch, into_op, both);
  if (result.dtype != target.dtype) fail(ErrorCode::dtype_mismatch, into_op, both);
}

bool is_same(const Tensor& result, const Tensor& target) {
  return !target.is_empty() && &TensorAccess::info(result) == &TensorAccess::info(target);
}

// Throws where anybody else reads the storage of a computed target.
void check_alone(const ContextState& context, const Tensor& target) {
  const Held& held = TensorAccess::held(target);
  const NodePtr& node = held->node(context);
  const std::string name = "the target of " + text_of(*node);
  if (location_of(node.get()).node != node.get())
    fail(ErrorCode::invalid_argument, into_op, name + " is a view of another tensor.");
  const std::shared_ptr<Buffer>& buffer = node->value.buffer;
  if (!buffer) return;
  if (buffer->is_borrowed())
    fail(ErrorCode::invalid_argument, into_op, name + " lies in memory that the host lent to be read.");
  if (buffer.use_count() > 1 || node->value.offset != 0 || buffer->elements() != node->shape.size())
    fail(ErrorCode::invalid_argument, into_op,
         name + " shares its storage with other tensors: it is a view, or has one.");
  // A loan holds the tensor that it is of.
  const bool is_loan = held->is_loan();
  if (held.use_count() == 1 && node->holds == (is_loan ? 2 : 1) && (!is_loan || node->first_hold.use_count() == 1))
    return;
  fail(ErrorCode::invalid_argument, into_op,
       name +
           " is not the only one to read its storage: another Tensor or GpuData, an operation that is not computed "
           "yet, perhaps the result itself, or a Program does; let go of it, or take another target.");
}

// A result on its way into a storage.
struct Transfer {
  NodePtr result;
  NodePtr before{};                  // has the storage so far; null where there is none
  std::shared_ptr<Buffer> buffer{};  // the storage
  std::shared_ptr<Buffer> copies{};  // of the elements before
  bool is_overwritten = false;
  Tensor copy{};  // of the result, where no kernel could write its elements there at once

  bool is_done() const { return !buffer || result->value.buffer == buffer; }
};

std::uint64_t layout_of(const Backend& backend, const StorageSpec& spec) {
  if (spec.pixels.channels == 0) return spec.layout;
  return backend.layout_of({.dtype = spec.dtype,
                            .width = narrow<std::uint32_t>(spec.pixels.width),
                            .height = narrow<std::uint32_t>(spec.pixels.height)});
}

Wanted wanted_by(const ContextState& context, const Transfer& transfer, const NodePtr& node) {
  Wanted wanted{.node = node};
  if (!transfer.buffer) return wanted;
  wanted.layout = layout_of(*context.backend, transfer.buffer->spec());
  // What was forgotten may have to be made from the elements before; only a copy at the end can take their place then.
  const bool may_be_read =
      context.options.priority == Priority::memory && transfer.before.use_count() > transfer.before->holds + 1;
  if (!may_be_read || node != transfer.result) wanted.into = transfer.buffer;
  return wanted;
}

Transfer transfer_to(ContextState& context, const Tensor& result, const Tensor& target) {
  Transfer transfer{.result = TensorAccess::node(context, result)};
  if (target.is_empty() || is_same(result, target)) return transfer;
  const NodePtr& before = TensorAccess::node(context, target);
  const std::shared_ptr<Buffer>& buffer = before->value.buffer;
  if (!buffer || !buffer->is_resident() || !buffer->has_elements_in_order()) return transfer;
  transfer.before = before;
  transfer.buffer = buffer;
  return transfer;
}

void run(ContextState& context, std::span<Transfer> transfers) {
  Batch batch(context);
  try {
    std::vector<Wanted> wanted;
    for (Transfer& transfer : transfers) {
      if (transfer.buffer) transfer.copies = context.pool->take_copies(*transfer.buffer);
      wanted.push_back(wanted_by(context, transfer, transfer.result));
    }
    batch.add(wanted);
    wanted.clear();
    for (Transfer& transfer : transfers) {
      if (transfer.is_done()) continue;
      transfer.copy = TensorAccess::tensor(copy_of(transfer.result));
      wanted.push_back(wanted_by(context, transfer, TensorAccess::node(context, transfer.copy)));
    }
    if (!wanted.empty()) batch.add(wanted);
    batch.run();
  } catch (...) {
    for (Transfer& transfer : transfers) {
      if (!transfer.buffer) continue;
      transfer.is_overwritten = batch.has_submitted();
      if (transfer.is_overwritten) context.recovery.overwritten(transfer.before, transfer.copies);
      else if (transfer.copies) context.pool->give_copies_back(*transfer.buffer, *transfer.copies);
    }
    throw;
  }
}

void run(ContextState& context, std::span<const Tensor> results, std::span<Tensor> targets) {
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < results.size(); ++i) transfers.push_back(transfer_to(context, results[i], targets[i]));
  try {
    run(context, transfers);
  } catch (...) {
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (transfers[i].is_overwritten) targets[i].dispose();
    throw;
  }
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    Transfer& transfer = transfers[i];
    if (transfer.before) context.recovery.overwritten(transfer.before, std::move(transfer.copies));
    if (is_same(results[i], targets[i])) continue;
    const bool is_loan = !targets[i].is_empty() && TensorAccess::held(targets[i])->is_loan();
    const Tensor made = transfer.copy.is_empty() ? results[i] : transfer.copy;
    targets[i] = is_loan ? TensorAccess::on_loan(context, made) : made;
  }
}

constexpr std::string_view advice_to_host =
    "compute_into: the buffer or texture of a target, which the host has, went with a lost device; compute the result "
    "into an empty tensor, and call data_to_gpu again.";

// A loan whose storage went with a device.
bool is_broken_loan(const ContextState& context, const Tensor& target) {
  const Node& node = *TensorAccess::node(context, target);
  return TensorAccess::held(target)->is_loan() && !(node.value.buffer && node.value.buffer->is_resident());
}

void compute_into(ContextState& context, std::span<const Tensor> results, std::span<Tensor> targets) {
  context.pool->require_all_submitted(into_op);
  bool has_loans = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Tensor& target = targets[i];
    if (target.is_empty() || is_same(results[i], target)) continue;
    check_alone(context, target);
    has_loans = has_loans || TensorAccess::held(target)->is_loan();
    if (!is_broken_loan(context, target)) continue;
    target.dispose();
    throw Error(ErrorCode::device_lost, std::string(advice_to_host));
  }
  const auto work = [&] { run(context, results, targets); };
  if (has_loans) context.recovery.run_on_this_device(advice_to_host, work);
  else context.recovery.run(work);
}

// The caller does not hold the lock.
void check_fit(std::span<const Tensor> results, std::span<const Tensor> targets) {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!targets[i].is_empty()) check_fits(TensorAccess::info(results[i]), TensorAccess::info(targets[i]));
}

}  // namespace

void Tensor::compute_into(Tensor& target) const {
  check_fit(std::span(this, 1), std::span(&target, 1));
  const LockedContext context(*this);
  tessera::compute_into(*context, std::span(this, 1), std::span(&target, 1));
}

void Context::compute_into(std::span<const Tensor> results, std::span<Tensor> targets) {
  if (results.size() != targets.size())
    fail(ErrorCode::invalid_argument, into_op,
         "there are " + std::to_string(results.size()) + " results, but " + std::to_string(targets.size()) +
             " targets.");
  for (const Tensor& result : results)
    if (const NodeInfo& info = TensorAccess::info(result); info.context != impl_.shared())
      fail(ErrorCode::invalid_argument, into_op,
           "a tensor of " + info.context->device_name() + " was given to a context on " + impl_->device_name() + ".");
  check_fit(results, targets);
  const LockedContext context(*this);
  tessera::compute_into(*context, results, targets);
}

}  // namespace tessera
