#include "models/explanation.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

#include "core/run/program_work.h"

namespace tessera {

namespace onnx {

void add_work(const Program& program, std::vector<Reported>& report) {
  std::vector<std::size_t> order(report.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return report[i].turn; });
  std::vector<std::vector<Tensor>> parts;
  for (const std::size_t i : order) parts.push_back(report[i].results);
  const std::vector<PartWork> works = work_of_parts(program, parts);
  for (std::size_t i = 0; i < order.size(); ++i) {
    ModelNode& node = report[order[i]].node;
    for (const std::string& kernel : works[i].kernels) node.kernel += (node.kernel.empty() ? "" : ", ") + kernel;
    node.flops = works[i].operations;
    node.bytes = works[i].bytes;
  }
  // An output may lie in the order of the file already, though under other sizes.
  std::erase_if(report, [](const Reported& each) { return each.node.op == output_row && each.node.kernel.empty(); });
}

}  // namespace onnx

namespace {

std::string rounded(std::int64_t number) {  // "9999", "10.0k", "1.2M"
  constexpr std::array units{"k", "M", "G", "T"};
  if (number < 10'000) return std::to_string(number);
  double value = static_cast<double>(number) / 1000;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f%s", value, units[unit]);
  return text.data();
}

}  // namespace

std::string to_string(std::span<const ModelNode> nodes) {
  constexpr std::size_t columns = 6, widest = 48;  // longer texts push the rest of their line
  using Row = std::array<std::string, columns>;
  if (nodes.empty()) return {};
  std::vector<Row> rows{{"node", "result", "flops", "bytes", "became", "kernel"}};
  for (const ModelNode& node : nodes)
    rows.push_back({node.op.empty() ? "" : node.op + " '" + node.name + "'", node.result, rounded(node.flops),
                    rounded(node.bytes), node.became, node.kernel.empty() ? "-" : node.kernel});
  std::array<std::size_t, columns> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < columns; ++i)
      if (row[i].size() <= widest) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    if (row.front().empty()) {  // a remark
      text += row[4] + "\n";
      continue;
    }
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string space(widths[i] - std::min(widths[i], row[i].size()), ' ');
      const bool is_number = i == 2 || i == 3;
      text += is_number ? space + row[i] : i + 1 == columns ? row[i] : row[i] + space;
      text += i + 1 == columns ? "\n" : "  ";
    }
  }
  return text;
}

}  // namespace tessera
