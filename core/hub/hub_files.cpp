// TensorHub: files.
#include <utility>

#include "core/hub/hub_impl.h"
#include "core/hub/sharing_names.h"

namespace tessera {
namespace {

// The format has each tensor once. The metadata has further names: this prefix and the name, with the tensor's name.
constexpr std::string_view alias_prefix = "tessera.alias:";

template <class NameOf>
void save_some(const HubImpl& hub, const std::filesystem::path& path, const std::optional<std::string_view>& model,
               const NameOf& name_of) {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
  {
    const std::scoped_lock hold(hub.lock);
    if (model) hub.require_model("save", *model);
    std::map<const HubEntry*, std::string> written;
    for (const auto& [ref, entry] : hub.entries) {
      if (model && ref.model != *model) continue;
      const std::string name = name_of(ref);
      if (const auto [first, is_new] = written.try_emplace(entry.get(), name); !is_new)
        metadata[std::string(alias_prefix) + name] = first->second;
      else tensors.emplace(name, entry->tensor);  // being saved is not being used
    }
  }
  save_safetensors(path, tensors, metadata);
}

template <class RefOf>
void load_all(HubImpl& hub, const std::filesystem::path& path, const RefOf& ref_of_name) {
  const Safetensors file = load_safetensors(hub.context, path);
  const auto fail = [&](const std::string& reason) {
    throw Error(ErrorCode::io, "load: " + path.string() + ": " + reason + ".");
  };
  std::map<TensorRef, std::string> names;  // in the file
  const auto add = [&](const std::string& name, const std::string& name_in_file) {
    const TensorRef ref = ref_of_name(name);
    if (!names.emplace(ref, name_in_file).second) fail("two of its tensors would be " + text_of(ref));
  };
  for (const auto& [name, tensor] : file.tensors) add(name, name);
  for (const auto& [alias, name] : file.metadata) {
    if (!alias.starts_with(alias_prefix)) continue;
    if (!file.tensors.contains(name))
      fail("its metadata " + in_quotes(alias) + " is about a tensor " + in_quotes(name) + ", which is not in it");
    add(alias.substr(alias_prefix.size()), name);
  }
  const Naming hold(hub);
  std::map<std::string, HubEntryPtr> entries;
  for (const auto& [name, tensor] : file.tensors) entries.emplace(name, hub.add(tensor));
  for (const auto& [ref, name] : names) hub.bind(ref, entries.at(name));
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
