// TensorHub: its names.
#include <algorithm>
#include <utility>

#include "core/base/sizes.h"
#include "core/hub/hub_impl.h"
#include "core/hub/sharing_names.h"
#include "core/interop/interop.h"

namespace tessera {

// ---- under the lock -----------------------------------------------------------------------------------------
const HubEntryPtr& HubImpl::find(const char* op, const TensorRef& ref) const {
  if (const auto at = entries.find(ref); at != entries.end()) return at->second;
  std::vector<TensorRef> refs;
  for (const auto& [known, entry] : entries) refs.push_back(known);
  throw Error(ErrorCode::not_found,
              std::string(op) + ": there is no tensor " + text_of(ref) + near_names(ref, refs) + ".");
}

std::shared_ptr<const CheckedKernel> HubImpl::find_kernel(const char* op, std::string_view name) const {
  if (const auto at = kernels.find(name); at != kernels.end()) return at->second;
  std::vector<std::string> names;
  for (const auto& [known, kernel] : kernels) names.push_back(known);
  throw Error(ErrorCode::not_found,
              std::string(op) + ": there is no kernel " + in_quotes(name) + near_names(name, names) + ".");
}

void HubImpl::require_model(const char* op, std::string_view model) const {
  std::vector<std::string> models;
  for (const auto& [ref, entry] : entries) {
    if (ref.model == model) return;
    if (models.empty() || models.back() != ref.model) models.push_back(ref.model);
  }
  throw Error(ErrorCode::not_found,
              std::string(op) + ": no tensor is of a model " + in_quotes(model) + near_names(model, models) + ".");
}

void HubImpl::bind(const TensorRef& ref, HubEntryPtr entry) {
  ++entry->names;
  renamed.push_back(entry);
  HubEntryPtr& place = entries[ref];
  if (place) {
    --place->names;
    renamed.push_back(place);
  }
  place = std::move(entry);
}

void HubImpl::unbind(decltype(entries)::iterator at) {
  --at->second->names;
  renamed.push_back(at->second);
  entries.erase(at);
}

HubEntryPtr HubImpl::add(const Tensor& tensor, bool is_view) {
  return std::make_shared<HubEntry>(HubEntry{.tensor = tensor, .is_view = is_view, .last_used = ++clock});
}

const Tensor& HubImpl::use(HubEntry& entry) {
  entry.last_used = ++clock;
  entry.last_use_time = std::chrono::steady_clock::now();
  return entry.tensor;
}

std::vector<HubEntryPtr> HubImpl::distinct_entries() const {
  std::vector<HubEntryPtr> distinct;
  for (const auto& [ref, entry] : entries) distinct.push_back(entry);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  return distinct;
}

Naming::~Naming() {
  try {
    label_renamed();
  } catch (const std::exception&) {
    // Host memory ran out: the labels of why_resident() stay as they were.
  }
}

void Naming::label_renamed() {
  struct Label {
    HubEntryPtr entry;
    std::string before, now;
  };
  std::vector<Label> labels;
  for (HubEntryPtr& entry : std::exchange(hub_.renamed, {})) {
    std::string now;
    for (const auto& [ref, other] : hub_.entries)
      if (other == entry) now += (now.empty() ? "" : ", ") + text_of(ref);
    std::string before = std::exchange(entry->label, now);
    labels.push_back({std::move(entry), std::move(before), std::move(now)});
  }
  hold_.unlock();
  for (const auto& [entry, before, now] : labels) {
    const LockedContext context(entry->tensor, LockedContext::Closed::allowed);
    Node& node = *TensorAccess::node(*context, entry->tensor);
    if (node.label.empty() || node.label == before) node.label = now;
  }
}

// ---- names --------------------------------------------------------------------------------------------------
TensorHub::TensorHub(Context& context) : impl_("TensorHub", std::make_shared<HubImpl>(context)) {
  ContextAccess::impl(context);  // throws where the context was moved from
}

void TensorHub::publish(const TensorRef& ref, const Tensor& tensor) {
  const NodeInfo& info = TensorAccess::info(tensor);
  if (info.context.get() != &ContextAccess::impl(impl_->context))
    throw Error(ErrorCode::invalid_argument, "publish: " + text_of(ref) + " is a tensor of another context, on " +
                                                 info.context->device_name() + "; the hub's is on " +
                                                 impl_->context.device().name + ".");
  const Naming hold(*impl_);
  for (const auto& [other, entry] : impl_->entries)
    if (&TensorAccess::info(entry->tensor) == &info) {
      impl_->use(*entry);
      return impl_->bind(ref, entry);
    }
  impl_->bind(ref, impl_->add(tensor));
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
  const Naming hold(*impl_);
  const HubEntryPtr entry = impl_->find("share", ref);
  for (const std::string& model : models) impl_->bind({ref.name, model}, entry);
}

void TensorHub::view(const TensorRef& source, const TensorRef& view, std::int64_t offset,
                     std::optional<std::int64_t> size) {
  const Naming hold(*impl_);
  const Tensor& whole = impl_->find("view", source)->tensor;
  const std::int64_t elements = whole.shape().size();
  const std::string which =
      "view: " + text_of(source) + " " + whole.shape().to_string() + " has " + std::to_string(elements) + " elements, ";
  if (offset < 0 || offset > elements)
    throw Error(ErrorCode::invalid_argument, which + "and a view cannot begin at " + std::to_string(offset) + ".");
  if (size && (*size < 0 || *size > elements - offset))
    throw Error(ErrorCode::invalid_argument, which + std::to_string(elements - offset) + " from " +
                                                 std::to_string(offset) + " on, and a view cannot have " +
                                                 std::to_string(*size) + " of them.");
  impl_->bind(view, impl_->add(slice(flatten(whole), {offset}, {size.value_or(elements - offset)}), true));
}

int TensorHub::references(const TensorRef& ref) const {
  const std::scoped_lock hold(impl_->lock);
  return impl_->find("references", ref)->names;
}

std::vector<SharedTensor> TensorHub::list() const {
  std::vector<SharedTensor> rows;
  std::vector<Tensor> tensors;
  {
    const std::scoped_lock hold(impl_->lock);
    for (const auto& [ref, entry] : impl_->entries) {
      tensors.push_back(entry->tensor);
      rows.push_back({.ref = ref,
                      .shape = entry->tensor.shape(),
                      .dtype = entry->tensor.dtype(),
                      .references = entry->names,
                      .is_view = entry->is_view,
                      .is_on_device = false,
                      .has_host_copy = false,
                      .bytes = byte_count(entry->tensor.shape().size(), entry->tensor.dtype()),
                      .device_bytes = 0,
                      .last_used = entry->last_use_time});
    }
  }
  const LockedContext context(impl_->context);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Residence residence = residence_of(*context, tensors[i]);
    rows[i].is_on_device = residence.is_on_device;
    rows[i].has_host_copy = residence.is_on_host;
    rows[i].device_bytes = residence.device_bytes;
  }
  return rows;
}

std::vector<SharedTensor> TensorHub::list(std::string_view model) const {
  std::vector<SharedTensor> rows = list();
  std::erase_if(rows, [&](const SharedTensor& row) { return row.ref.model != model; });
  return rows;
}

void TensorHub::release(const TensorRef& ref) {
  const Naming hold(*impl_);
  impl_->find("release", ref);
  impl_->unbind(impl_->entries.find(ref));
}

void TensorHub::release_model(std::string_view model) {
  const Naming hold(*impl_);
  impl_->require_model("release_model", model);
  for (auto at = impl_->entries.begin(); at != impl_->entries.end();) {
    const auto next = std::next(at);
    if (at->first.model == model) impl_->unbind(at);
    at = next;
  }
}

void TensorHub::clear() {
  const Naming hold(*impl_);
  while (!impl_->entries.empty()) impl_->unbind(impl_->entries.begin());
}

}  // namespace tessera
