// TensorHub: its names.
#include <algorithm>
#include <utility>

#include "core/context_impl.h"
#include "core/hub_impl.h"
#include "core/sharing_names.h"

namespace tessera {

// ---- under the lock -----------------------------------------------------------------------------------------
const HubEntryPtr& HubImpl::find(const char* op, const TensorRef& ref) const {
  if (const auto found = entries.find(ref); found != entries.end()) return found->second;
  std::vector<TensorRef> known;
  for (const auto& [name, entry] : entries) known.push_back(name);
  throw Error(ErrorCode::not_found,
              std::string(op) + ": there is no tensor " + text_of(ref) + near_names(ref, known) + ".");
}

void HubImpl::bind(const TensorRef& ref, HubEntryPtr entry) {
  ++entry->names;
  HubEntryPtr& place = entries[ref];
  if (place) --place->names;
  place = std::move(entry);
}

void HubImpl::unbind(decltype(entries)::iterator at) {
  --at->second->names;
  entries.erase(at);
}

Tensor HubImpl::use(const HubEntry& entry) {
  entry.storage->last_used = ++clock;
  return tensor(entry);
}

Tensor HubImpl::tensor(const HubEntry& entry) {
  const Tensor whole = entry.storage->tensor(context);
  if (!entry.part) return whole;
  return slice(whole.reshape({whole.shape().size()}), {entry.part->offset}, {entry.part->size});
}

std::vector<std::shared_ptr<SharedStorage>> HubImpl::storages() const {
  std::vector<std::shared_ptr<SharedStorage>> all;
  for (const auto& [ref, entry] : entries) all.push_back(entry->storage);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// ---- names --------------------------------------------------------------------------------------------------
TensorHub::TensorHub(Context& context) : impl_(std::make_shared<HubImpl>(context)) {}

void TensorHub::publish(const TensorRef& ref, const Tensor& tensor) {
  const NodePtr& node = TensorAccess::node(tensor);
  if (node->context.get() != &ContextAccess::impl(impl_->context))
    throw Error(ErrorCode::invalid_argument, "publish: " + text_of(ref) + " is a tensor of another context, on " +
                                                 node->context->backend->device().name + "; the hub's is on " +
                                                 impl_->context.device().name + ".");
  const std::scoped_lock hold(impl_->lock);
  for (const auto& [other, entry] : impl_->entries)
    if (!entry->part && entry->storage->is(tensor)) {
      entry->storage->last_used = ++impl_->clock;
      return impl_->bind(ref, entry);
    }
  auto storage = std::make_shared<SharedStorage>(tensor);
  storage->last_used = ++impl_->clock;
  impl_->bind(ref, std::make_shared<HubEntry>(HubEntry{.storage = std::move(storage)}));
}

Tensor TensorHub::get(const TensorRef& ref) const {
  const std::scoped_lock hold(impl_->lock);
  return impl_->use(*impl_->find("get", ref));
}

bool TensorHub::contains(const TensorRef& ref) const {
  const std::scoped_lock hold(impl_->lock);
  return impl_->entries.contains(ref);
}

void TensorHub::share(const TensorRef& ref, std::initializer_list<std::string> models) {
  share(ref, std::vector<std::string>(models));
}

void TensorHub::share(const TensorRef& ref, const std::vector<std::string>& models) {
  const std::scoped_lock hold(impl_->lock);
  const HubEntryPtr entry = impl_->find("share", ref);
  for (const std::string& model : models) impl_->bind({ref.name, model}, entry);
}

void TensorHub::view(const TensorRef& source, const TensorRef& view, std::int64_t offset,
                     std::optional<std::int64_t> size) {
  const std::scoped_lock hold(impl_->lock);
  const HubEntryPtr& entry = impl_->find("view", source);
  const std::int64_t elements = entry->shape().size();
  const std::string which = "view: " + text_of(source) + " " + entry->shape().to_string() + " has " +
                            std::to_string(elements) + " elements, ";
  if (offset < 0 || offset > elements)
    throw Error(ErrorCode::invalid_argument, which + "and a view cannot begin at " + std::to_string(offset) + ".");
  if (size && (*size < 0 || *size > elements - offset))
    throw Error(ErrorCode::invalid_argument, which + std::to_string(elements - offset) + " from " +
                                                 std::to_string(offset) + " on, and a view cannot have " +
                                                 std::to_string(*size) + " of them.");
  const Part part{(entry->part ? entry->part->offset : 0) + offset, size.value_or(elements - offset)};
  impl_->bind(view, std::make_shared<HubEntry>(HubEntry{.storage = entry->storage, .part = part}));
}

int TensorHub::references(const TensorRef& ref) const {
  const std::scoped_lock hold(impl_->lock);
  return impl_->find("references", ref)->names;
}

std::vector<SharedTensor> TensorHub::list() const {
  const std::scoped_lock hold(impl_->lock);
  std::vector<SharedTensor> rows;
  for (const auto& [ref, entry] : impl_->entries)
    rows.push_back({.ref = ref,
                    .shape = entry->shape(),
                    .dtype = entry->storage->dtype(),
                    .references = entry->names,
                    .is_view = entry->part.has_value(),
                    .is_on_device = entry->storage->on_device().has_value(),
                    .has_host_copy = static_cast<bool>(entry->storage->host())});
  return rows;
}

std::vector<SharedTensor> TensorHub::list(std::string_view model) const {
  std::vector<SharedTensor> rows = list();
  std::erase_if(rows, [&](const SharedTensor& row) { return row.ref.model != model; });
  return rows;
}

void TensorHub::release(const TensorRef& ref) {
  const std::scoped_lock hold(impl_->lock);
  impl_->find("release", ref);
  impl_->unbind(impl_->entries.find(ref));
}

void TensorHub::release_model(std::string_view model) {
  const std::scoped_lock hold(impl_->lock);
  std::vector<std::string> others;
  bool is_found = false;
  for (auto at = impl_->entries.begin(); at != impl_->entries.end();) {
    const auto next = std::next(at);
    if (at->first.model == model) {
      impl_->unbind(at);
      is_found = true;
    } else if (others.empty() || others.back() != at->first.model) {
      others.push_back(at->first.model);
    }
    at = next;
  }
  if (!is_found)
    throw Error(ErrorCode::not_found,
                "release_model: no tensor is of a model " + in_quotes(model) + near_names(model, others) + ".");
}

}  // namespace tessera
