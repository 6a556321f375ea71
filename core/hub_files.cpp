// TensorHub: files.
#include <utility>

#include "core/hub_impl.h"
#include "core/safetensors.h"
#include "core/sharing_names.h"

namespace tessera {
namespace {

// The format has each tensor once. Further names stand in the metadata: this and the name, and which tensor it is.
constexpr std::string_view alias_prefix = "tessera.alias:";

// Gives the elements when called, without the lock. Being saved is not being used.
std::function<HostElements()> elements_of(HubImpl& hub, const HubEntry& entry) {
  const HostElements& host = entry.storage->host();
  if (!host) return [tensor = hub.tensor(entry)] { return read_elements(tensor); };
  const Part part = entry.part.value_or(Part{0, entry.storage->shape().size()});
  const std::size_t element = size_of(entry.storage->dtype());
  return [elements = host.part(static_cast<std::size_t>(part.offset) * element,
                               static_cast<std::size_t>(part.size) * element)] { return elements; };
}

template <class NameOf>
void save_some(HubImpl& hub, const std::filesystem::path& path, const std::optional<std::string_view>& model,
               const NameOf& name_of) {
  std::vector<TensorToWrite> tensors;
  std::map<std::string, std::string> metadata;
  {
    const std::scoped_lock hold(hub.lock);
    std::map<const HubEntry*, std::string> written;
    for (const auto& [ref, entry] : hub.entries) {
      if (model && ref.model != *model) continue;
      const std::string name = name_of(ref);
      if (const auto [first, is_new] = written.try_emplace(entry.get(), name); !is_new) {
        metadata[std::string(alias_prefix) + name] = first->second;
        continue;
      }
      tensors.push_back({name, entry->shape(), entry->storage->dtype(), elements_of(hub, *entry)});
    }
  }
  write_safetensors(path, std::move(tensors), metadata);
}

template <class RefOf>
void load_all(HubImpl& hub, const std::filesystem::path& path, const RefOf& ref_of_name) {
  SafetensorsContents contents = read_safetensors(path);
  const auto fail = [&](const std::string& reason) {
    throw Error(ErrorCode::io, "load: " + path.string() + ": " + reason + ".");
  };
  std::map<std::string, HubEntryPtr> by_name;
  std::map<TensorRef, HubEntryPtr> loaded;
  const auto add = [&](const std::string& name, const HubEntryPtr& entry) {
    const TensorRef ref = ref_of_name(name);
    if (!loaded.emplace(ref, entry).second) fail("two of its tensors would be " + text_of(ref));
  };
  for (auto& [name, host] : contents.tensors) {
    auto storage = std::make_shared<SharedStorage>(std::move(host));
    add(name, by_name[name] = std::make_shared<HubEntry>(HubEntry{.storage = std::move(storage)}));
  }
  for (const auto& [alias, name] : contents.metadata) {
    if (!alias.starts_with(alias_prefix)) continue;
    const auto found = by_name.find(name);
    if (found == by_name.end())
      fail("its metadata " + in_quotes(alias) + " is about a tensor " + in_quotes(name) + ", which is not in it");
    add(alias.substr(alias_prefix.size()), found->second);
  }
  const std::scoped_lock hold(hub.lock);
  for (auto& [ref, entry] : loaded) {
    entry->storage->last_used = ++hub.clock;
    hub.bind(ref, std::move(entry));
  }
}

}  // namespace

void TensorHub::save(const std::filesystem::path& path) const { save_some(*impl_, path, {}, file_name_of); }
void TensorHub::load(const std::filesystem::path& path) { load_all(*impl_, path, ref_of); }

void TensorHub::save(const std::filesystem::path& path, std::string_view model) const {
  save_some(*impl_, path, model, [](const TensorRef& ref) { return ref.name; });
}

void TensorHub::load(const std::filesystem::path& path, std::string_view model) {
  load_all(*impl_, path, [&](const std::string& name) { return TensorRef{name, std::string(model)}; });
}

}  // namespace tessera
