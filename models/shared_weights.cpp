#include "models/shared_weights.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace tessera::onnx {

std::shared_ptr<SharedWeights> SharedWeights::of(const TensorHub& hub) {
  static std::mutex lock;
  static std::vector<std::weak_ptr<SharedWeights>> known;
  const std::scoped_lock hold(lock);
  std::erase_if(known, [](const std::weak_ptr<SharedWeights>& each) { return each.expired(); });
  for (const std::weak_ptr<SharedWeights>& each : known)
    if (std::shared_ptr<SharedWeights> weights = each.lock(); weights && weights->hub_ == hub) return weights;
  auto weights = std::make_shared<SharedWeights>(hub);
  known.push_back(weights);
  return weights;
}

std::pair<Tensor, SharedWeights::Use> SharedWeights::get(const TensorProto& source, Bytes elements,
                                                         const std::vector<int>& permutation,
                                                         const std::function<Tensor()>& make) {
  const std::size_t hash =
      std::hash<std::string_view>{}({reinterpret_cast<const char*>(elements.data()), elements.size()});
  const auto is_equal = [&](const Entry& entry) {
    const Bytes others = entry.users.front();
    return entry.type == source.type && entry.dims == source.dims && entry.quantization == source.quantization &&
           entry.permutation == permutation && others.size() == elements.size() &&
           (elements.empty() || std::memcmp(others.data(), elements.data(), elements.size()) == 0);
  };
  const std::scoped_lock hold(lock_);
  auto entry = entries_.lower_bound(hash);
  const auto end = entries_.upper_bound(hash);
  while (entry != end && !is_equal(entry->second)) ++entry;
  if (entry == end)
    entry = entries_.emplace(hash, Entry{.type = source.type,
                                         .dims = source.dims,
                                         .quantization = source.quantization,
                                         .permutation = permutation,
                                         .tensor = make(),
                                         .users = {}});
  const auto user = entry->second.users.insert(entry->second.users.end(), elements);
  const Tensor tensor = entry->second.tensor;
  return {tensor, Use(static_cast<const void*>(nullptr),
                      [weights = shared_from_this(), entry, user](const void*) { weights->forget(entry, user); })};
}

void SharedWeights::forget(Entries::iterator entry, std::list<Bytes>::iterator user) {
  const std::scoped_lock hold(lock_);
  entry->second.users.erase(user);
  if (entry->second.users.empty()) entries_.erase(entry);
}

std::string SharedWeights::take_name(const std::string& wanted) {
  const std::scoped_lock hold(lock_);
  std::string name = wanted;
  for (int number = 2; !names_.insert(name).second; ++number) name = wanted + " (" + std::to_string(number) + ")";
  return name;
}

void SharedWeights::give_back_name(const std::string& name) {
  const std::scoped_lock hold(lock_);
  names_.erase(name);
}

}  // namespace tessera::onnx
