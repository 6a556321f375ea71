#include "core/hub/sharing_names.h"

#include <algorithm>
#include <numeric>

namespace tessera {
namespace {

constexpr std::size_t longest_compared = 120;

// Near names differ by a few slips, or by a third of the letters.
std::size_t farthest(std::size_t length) { return std::max<std::size_t>(2, length / 3); }

struct Near {
  std::size_t distance;
  std::string text;
};

std::string listed(std::vector<Near> near) {
  std::stable_sort(near.begin(), near.end(), [](const Near& a, const Near& b) { return a.distance < b.distance; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 3); ++i)
    text += (i ? ", " : ", but there is ") + near[i].text;
  return text;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, longest_compared);
  b = b.substr(0, longest_compared);
  std::vector<std::size_t> row(b.size() + 1);  // distances of a's beginning to each beginning of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string text_of(const TensorRef& ref) { return in_quotes(ref.name) + " of " + in_quotes(ref.model); }

std::string near_names(const TensorRef& typo, const std::vector<TensorRef>& known) {
  std::vector<Near> near;
  const std::size_t most = farthest(typo.name.size() + typo.model.size());
  for (const TensorRef& ref : known) {
    const std::size_t of_model = edit_distance(typo.model, ref.model), of_name = edit_distance(typo.name, ref.name);
    // The same name in another model is near, whatever that model is called.
    const std::size_t distance = of_name + (of_name == 0 ? std::min(of_model, most) : of_model);
    if (distance <= most) near.push_back({distance, text_of(ref)});
  }
  return listed(std::move(near));
}

std::string near_names(std::string_view typo, const std::vector<std::string>& known) {
  std::vector<Near> near;
  for (const std::string& name : known)
    if (const std::size_t distance = edit_distance(typo, name); distance <= farthest(typo.size()))
      near.push_back({distance, in_quotes(name)});
  return listed(std::move(near));
}

std::string file_name_of(const TensorRef& ref) {
  const bool is_plain = ref.model.empty() && ref.name.find('/') == std::string::npos && ref.name != "__metadata__";
  if (is_plain) return ref.name;
  std::string text;
  for (const char c : ref.model) text += c == '%' ? "%25" : c == '/' ? "%2F" : std::string(1, c);
  return text + "/" + ref.name;
}

TensorRef ref_of(std::string_view file_name) {
  const std::size_t slash = file_name.find('/');
  if (slash == file_name.npos) return {std::string(file_name), ""};
  TensorRef ref{std::string(file_name.substr(slash + 1)), ""};
  std::string_view model = file_name.substr(0, slash);
  while (!model.empty()) {
    const bool is_percent = model.starts_with("%25"), is_slash = model.starts_with("%2F");
    ref.model += is_percent ? '%' : is_slash ? '/' : model[0];
    model.remove_prefix(is_percent || is_slash ? 3 : 1);
  }
  return ref;
}

}  // namespace tessera
