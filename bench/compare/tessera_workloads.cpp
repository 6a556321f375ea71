#include "tessera_workloads.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <tessera/model.h>

namespace {

using namespace tessera;
using compare::generated, compare::now_ms, compare::Workload;
using Sizes = std::vector<std::int64_t>;

class Peer {
 public:
  Peer(Context gpu, std::filesystem::path models) : gpu_(std::move(gpu)), models_(std::move(models)) {}

  Workload make(const std::string& operation, const compare::Arguments& arguments) {
    if (operation == "model") return model(arguments);
    const Sizes n = compare::integers(arguments);
    if (operation == "upload") return upload(n[0]);
    if (operation == "updown") return updown(n[0]);
    if (operation == "frames") return frames(n[0], n[1]);
    return resident(expression(operation, n));
  }

 private:
  using Expression = std::function<Tensor()>;

  Tensor tensor(const Shape& shape, std::uint32_t seed, float shift = -0.5f, float scale = 1) {
    return gpu_.tensor(shape, generated(shape.size(), seed, shift, scale)).compute();
  }
  Tensor constant(const Shape& shape, const std::vector<float>& values) { return gpu_.tensor(shape, values).compute(); }

  Workload resident(const Expression& build) {
    return {.run =
                [this, build] {
                  const Tensor result = build().compute();
                  gpu_.wait();
                },
            .result = [build] { return build().read(); }};
  }

  Workload upload(std::int64_t count) {
    const auto host = generated(count, 1);
    return resident([this, host, count] { return gpu_.tensor({count}, host); });
  }
  Workload updown(std::int64_t count) {
    const auto host = generated(count, 1);
    const auto both = [this, host, count] { return gpu_.tensor({count}, host).read(); };
    return {.run = [both] { both(); }, .result = both};
  }

  // A filter of eight kernels, recorded once, of a picture that is on the device.
  Workload frames(std::int64_t width, std::int64_t height) {
    const Shape shape{height, width, 4};
    const Program filter = Program::record(gpu_, {{.shape = shape}}, [](std::span<const Tensor> in) {
      Tensor x = in[0];
      for (int i = 0; i < 4; ++i) x = gaussian_blur(x, 1.5f);  // rows, then columns
      return std::vector{x};
    });
    const Tensor picture = tensor(shape, 1, 0);
    Workload workload{.run =
                          [this, filter, picture] {
                            const std::vector<Tensor> result = filter.run({picture});
                            gpu_.wait();
                          },
                      .result = [filter, picture] { return filter.run({picture})[0].read(); }};
    workload.facts = [this, filter, picture] {  // the call alone, of which the device is done before the next
      constexpr int count = 20;
      gpu_.wait();
      gpu_.reset_stats();
      std::vector<double> host;
      for (int i = 0; i < count; ++i) {
        const double before = now_ms();
        const std::vector<Tensor> result = filter.run({picture});
        host.push_back(now_ms() - before);
        gpu_.wait();
      }
      std::sort(host.begin(), host.end());
      return std::map<std::string, double>{{"host_ms", host[count / 2]},
                                           {"dispatches", static_cast<double>(gpu_.stats().dispatches) / count}};
    };
    return workload;
  }

  Expression expression(const std::string& operation, const Sizes& n) {
    if (operation == "ops") return ops(n[0], {n[1], n[2]});
    if (operation == "matmul") return product(n);
    if (operation == "softmax") {
      const Tensor x = tensor({n[0], n[1]}, 1, -0.5f, 8);
      return [x, axis = static_cast<int>(n[2])] { return softmax(x, axis); };
    }
    if (operation == "conv") {
      const Tensor x = tensor({n[0], n[1], n[2], n[3]}, 1), filter = tensor({n[5], n[5], n[3], n[4]}, 2);
      return [x, filter, options = Conv2d{.strides = {n[6], n[6]}, .padding = Padding::same}] {
        return conv2d(x, filter, options);
      };
    }
    if (operation == "depthwise") {
      const Tensor x = tensor({n[0], n[1], n[2], n[3]}, 1), filter = tensor({n[4], n[4], 1, n[3]}, 2);
      return [x, filter, options = Conv2d{.padding = Padding::same, .groups = n[3]}] {
        return conv2d(x, filter, options);
      };
    }
    if (operation == "squaremean") return square_mean(n[0], n[1]);
    if (operation == "video") return video(n[0], n[1]);
    if (operation == "mlp") return mlp(n[0]);
    if (operation == "lngelu") {
      const Tensor x = tensor({n[0], n[1]}, 1, -0.5f, 4), gamma = tensor({n[1]}, 2, 0.5f), beta = tensor({n[1]}, 3);
      return [x, gamma, beta] { return gelu(layer_norm(x, {.gamma = gamma, .beta = beta})); };
    }
    throw std::invalid_argument("no such operation: " + operation);
  }

  Expression ops(std::int64_t count, const Shape& shape) {
    const Tensor a = tensor(shape, 1), b = tensor(shape, 2);
    return [a, b, count] {
      Tensor x = a;
      for (std::int64_t i = 0; i < count; ++i) x = i % 2 == 0 ? x * 1.01f : x + b;
      return x;
    };
  }

  Expression product(const Sizes& n) {  // batch, rows, terms, columns, form: see workloads.mjs
    const bool turned_a = n[4] & 1, turned_b = n[4] & 2, strided = n[4] & 4;
    const auto shape = [&](std::int64_t rows, std::int64_t columns) {
      return n[0] > 1 ? Shape{n[0], rows, columns} : Shape{rows, columns};
    };
    const Tensor a = tensor(turned_a ? shape(n[2], n[1]) : shape(n[1], strided ? 2 * n[2] : n[2]), 1);
    const Tensor b = tensor(turned_b ? shape(n[3], n[2]) : shape(n[2], n[3]), 2);
    if (strided) return [a, b, n] { return matmul(strided_slice(a, {0, 0}, {n[1], 2 * n[2]}, {1, 2}), b); };
    return [a, b, turned_a, turned_b] { return matmul(a, b, {.transpose_a = turned_a, .transpose_b = turned_b}); };
  }

  Expression square_mean(std::int64_t tensors, std::int64_t count) {
    std::vector<Tensor> all;
    for (std::int64_t i = 0; i < tensors; ++i) all.push_back(tensor({count}, static_cast<std::uint32_t>(1 + i)));
    return [all] {
      Tensor total = mean(square(all[0]));
      for (std::size_t i = 1; i < all.size(); ++i) total = total + mean(square(all[i]));
      return total * (1.0f / static_cast<float>(all.size()));
    };
  }

  Expression video(std::int64_t width, std::int64_t height) {
    const Tensor frame = tensor({1, height, width, 4}, 1, 0);
    const auto depthwise = [&](const std::vector<float>& filter, std::int64_t side) {
      std::vector<float> values;
      for (const float value : filter) values.insert(values.end(), 4, value);
      return constant({side, side, 1, 4}, values);
    };
    const Tensor blur = depthwise(compare::gaussian_5x5(), 5), sobel_x = depthwise({-1, 0, 1, -2, 0, 2, -1, 0, 1}, 3),
                 sobel_y = depthwise({-1, -2, -1, 0, 0, 0, 1, 2, 1}, 3);
    const Tensor colour =
        constant({1, 1, 4, 4}, {0.9f, 0.2f, 0.1f, 0, 0.1f, 0.8f, 0.2f, 0, 0.2f, 0.1f, 0.9f, 0, 0, 0, 0, 1});
    return [=] {
      const Conv2d same{.padding = Padding::same, .groups = 4};
      const Tensor smooth = conv2d(frame, blur, same);
      const Tensor edges = sqrt(square(conv2d(smooth, sobel_x, same)) + square(conv2d(smooth, sobel_y, same)));
      return clip(conv2d(edges, colour, {.padding = Padding::same}), 0, 1);
    };
  }

  Expression mlp(std::int64_t batch) {
    const Tensor x = tensor({batch, 784}, 1), w1 = tensor({784, 512}, 2, -0.5f, 0.1f), b1 = tensor({512}, 3),
                 w2 = tensor({512, 256}, 4, -0.5f, 0.1f), b2 = tensor({256}, 5), w3 = tensor({256, 10}, 6),
                 b3 = tensor({10}, 7);
    return [=] { return softmax(matmul(relu(matmul(relu(matmul(x, w1) + b1), w2) + b2), w3) + b3); };
  }

  Workload model(const compare::Arguments& arguments) {
    const std::filesystem::path file = models_ / arguments[0];
    const Shape shape(compare::integers({arguments.begin() + 2, arguments.end()}));
    const Model network = Model::load(gpu_, file);
    std::vector<float> input(static_cast<std::size_t>(shape.size()));
    std::ifstream(models_ / arguments[1], std::ios::binary)
        .read(reinterpret_cast<char*>(input.data()), static_cast<std::streamsize>(input.size() * sizeof(float)));
    const Tensor x = constant(shape, input);
    Workload workload = resident([network, x] {
      return network({{network.inputs().at(0).name, x}}).at(network.outputs().at(0).name);
    });
    workload.facts = [this, file, shape, x, input] {
      std::map<std::string, double> known = facts(file, shape, x);
      known.merge(facts_under_budget(file, shape, input));
      return known;
    };
    return workload;
  }

  // Another model of the same file, whose kernels are compiled already: what loading takes, and what memory.
  std::map<std::string, double> facts(const std::filesystem::path& file, const Shape& shape, const Tensor& x) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("tessera-compare-" + std::to_string(compare::now_ms()));
    std::filesystem::create_directory(folder);
    gpu_.trim();
    const std::uint64_t before = gpu_.memory().bytes_in_use;
    std::uint64_t file_bytes = 0;
    const double copying = compare::now_ms();
    for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
      if (file.extension() != ".onnx" || entry.path() == file) {
        file_bytes += entry.file_size();
        std::filesystem::copy_file(entry.path(), folder / entry.path().filename());
      }
    const double loading = compare::now_ms();
    const Model network = Model::load(gpu_, file);
    const double loaded = compare::now_ms();
    const std::string input = network.inputs().at(0).name;
    network.prepare({{input, shape}}).get();
    gpu_.wait();
    const double prepared = compare::now_ms();
    std::filesystem::remove_all(folder);
    std::int64_t largest = 0;  // what one kernel reads and writes has to be there at once
    for (const ModelNode& node : network.explain({{input, shape}})) largest = std::max(largest, node.bytes);
    const std::uint64_t weights = gpu_.memory().bytes_in_use - before;
    gpu_.reset_stats();
    {
      const Tensor y = network({{input, x}}).at(network.outputs().at(0).name).compute();
      gpu_.wait();
    }
    return {{"copy_ms", loading - copying},
            {"load_ms", loaded - loading},
            {"prepare_ms", prepared - loaded},
            {"file_bytes", static_cast<double>(file_bytes)},
            {"weight_bytes", static_cast<double>(weights)},
            {"largest_node_bytes", static_cast<double>(largest)},
            {"run_bytes", static_cast<double>(gpu_.memory().bytes_peak - before - weights)},
            {"pool_bytes", static_cast<double>(gpu_.memory().bytes_pooled)}};
  }

  // A run of another model of the same file, the second one: the first lays weights out.
  struct RunInBudget {
    std::uint64_t before, most, uploaded;  // bytes
  };
  RunInBudget run_in_budget(std::uint64_t budget, const std::filesystem::path& file, const Shape& shape,
                            const std::vector<float>& input) {
    Context gpu =
        Context::create({.prefer = {gpu_.device().backend}, .driver = gpu_.device().driver, .memory_budget = budget});
    const Model network = Model::load(gpu, file);
    const Tensor x = gpu.tensor(shape, input).compute();
    const auto run = [&] {
      const Tensor y = network({{network.inputs().at(0).name, x}}).at(network.outputs().at(0).name).compute();
      gpu.wait();
    };
    run();
    const std::uint64_t before = gpu.memory().bytes_in_use;
    gpu.reset_stats();
    run();
    return {before, gpu.memory().bytes_peak, gpu.stats().bytes_uploaded};
  }

  // Under a budget each result has a storage of just its size: with plenty, a run takes the largest live set. Then the
  // budget is that and what was there before.
  std::map<std::string, double> facts_under_budget(const std::filesystem::path& file, const Shape& shape,
                                                   const std::vector<float>& input) {
    const RunInBudget with_plenty = run_in_budget(std::uint64_t{1} << 30, file, shape, input);
    const RunInBudget with_just_enough = run_in_budget(with_plenty.most, file, shape, input);
    return {{"live_bytes", static_cast<double>(with_plenty.most - with_plenty.before)},
            {"bytes_in_budget", static_cast<double>(with_just_enough.most)},
            {"uploaded_in_budget", static_cast<double>(with_just_enough.uploaded)}};
  }

  Context gpu_;
  std::filesystem::path models_;
};

}  // namespace

compare::Make compare::tessera_workloads(const Context& gpu, const std::filesystem::path& models) {
  return [peer = std::make_shared<Peer>(gpu, models)](const std::string& operation, const Arguments& arguments) {
    return peer->make(operation, arguments);
  };
}
