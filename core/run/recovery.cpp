#include "core/run/recovery.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/run/batch.h"
#include "core/run/context_impl.h"

namespace tessera {
namespace {

// A copy on the host cuts lineages that are longer than this, or that keep more bytes than this on the host.
constexpr int longest_lineage = 1024;
constexpr std::uint64_t most_lineage_bytes = std::uint64_t{256} << 20;

// The nodes of a context that go with the one that this thread releases, under the context's lock: they need no list
// that others add to as well. A chain of operations within a kernel is as long as that.
struct Releasing;
constinit thread_local Releasing* releasing = nullptr;
struct Releasing {
  explicit Releasing(const DroppedNodes& of_context) : dropped(of_context) { releasing = this; }
  ~Releasing() { releasing = nullptr; }
  Releasing(const Releasing&) = delete;
  Releasing& operator=(const Releasing&) = delete;

  const DroppedNodes& dropped;
  std::vector<NodePtr> nodes;
};

constexpr int most_operations = 16;

// Whether a few cheap operations make the elements again, from sources that together with them take `room` at most.
bool is_soon_made_again(const Node& node, std::uint64_t room) {
  if (node.value.lineage == unknown_lineage) return false;
  std::uint64_t bytes = node.value.buffer->bytes();
  std::set<const Buffer*> sources;
  std::vector<const Node*> to_visit{&node};
  for (int operations = 0; !to_visit.empty();) {
    const Node& next = *to_visit.back();
    to_visit.pop_back();
    if (&next != &node && next.has_elements()) {
      if (sources.insert(next.value.buffer.get()).second) bytes += next.value.buffer->bytes();
      continue;
    }
    if (!is_cheap(next.operation, next.inputs.size()) || ++operations > most_operations) return false;
    for (const NodePtr& input : next.inputs) to_visit.push_back(input.get());
  }
  return bytes <= room;
}

}  // namespace

void DroppedNodes::add(const NodePtr& node) noexcept {
  try {
    if (releasing && &releasing->dropped == this) return releasing->nodes.push_back(node);
    const std::scoped_lock hold(lock_);
    nodes_.push_back(node);
    are_some_ = true;
  } catch (const std::bad_alloc&) {
    // The buffer stays until the last operation goes that has the node in its lineage.
  }
}

void DroppedNodes::take() {
  const std::scoped_lock hold(lock_);
  taken_.swap(nodes_);
  are_some_ = false;
}

Recovery::Recovery(ContextState& context) : context_(context), forgets_(context.options.priority == Priority::memory) {}

// ---- losses ---------------------------------------------------------------------------------------------------
bool Recovery::device_is_lost() const { return context_.backend->is_lost(); }

void Recovery::replace_device() {
  Messages& messages = *context_.owner.messages;
  const std::string lost = context_.backend->device().name;
  if (context_.is_hosts)
    throw Error(ErrorCode::device_lost, "The host's device " + lost + " is lost: only the host can replace it.");
  std::unique_ptr<Backend> replacement;
  ContextOptions same_device = context_.options;
  same_device.prefer = {context_.backend->device().backend};
  same_device.driver = context_.backend->device().driver;
  same_device.device = {};
  try {
    replacement = context_.open(same_device, messages.sink());
  } catch (const Error& error) {
    messages.add(Message::Level::warning, "The device " + lost + " is lost and does not come back: " + error.what());
    try {
      replacement = context_.open(context_.options, messages.sink());
    } catch (const Error& second) {
      throw Error(ErrorCode::device_lost, "The device " + lost + " is lost, and there is no other: " + second.what());
    }
  }
  context_.stats.device_losses += 1;
  context_.use_backend(std::move(replacement));
  messages.add(Message::Level::warning, "The device " + lost + " was lost; " + context_.backend->device().name +
                                            " takes its place, and tensors are rebuilt as they are needed.");
}

void Recovery::replace_device_for_host(std::string_view advice) {
  const std::string lost = context_.backend->device().name;
  replace_device();
  throw Error(ErrorCode::device_lost, std::string(advice) + " The device " + lost + " was lost on the way; " +
                                          context_.backend->device().name + " takes its place.");
}

// ---- lineage --------------------------------------------------------------------------------------------------
bool Recovery::keeps_lineage() const {
  return context_.options.survive_device_loss && !context_.is_hosts &&
         context_.backend->device().backend != BackendKind::cpu;
}

void Recovery::computed(const NodePtr& node) {
  if (node->value.in_texels) return node->forget_lineage();
  node->value.buffer->add_user(node);
  if (!keeps_lineage() || node->value.lineage == unknown_lineage) return node->forget_lineage();
  node->held_inputs.clear();
  if (node->value.lineage > 0) bound_lineage(node);
}

void Recovery::release(Node& node) {
  const auto release_one = [this](Node& one) {
    if (one.holds != 0) return;
    one.held_inputs.clear();  // of an operation within a kernel too, which never had a buffer
    one.value.in_texels.reset();
    std::shared_ptr<Buffer>& buffer = one.value.buffer;
    if (!buffer) return;
    const bool is_shared = buffer.use_count() > 1;  // by a view
    if (!one.is<Computed>()) buffer = nullptr;
    else if (!is_shared && buffer->has_copy()) context_.pool->keep_for_lineage(*buffer);
  };
  Releasing own(context_.owner.dropped);
  release_one(node);
  while (!own.nodes.empty()) {
    const NodePtr next = std::move(own.nodes.back());
    own.nodes.pop_back();
    release_one(*next);
  }
}

void Recovery::overwritten(const NodePtr& node, std::shared_ptr<Buffer> copies) {
  node->value.buffer = nullptr;
  if (!node->is<Computed>() || !copies) return;
  node->value.buffer = std::move(copies);
  node->value.buffer->add_user(node);
  context_.pool->keep_for_lineage(*node->value.buffer);
}

void Recovery::bound_lineage(const NodePtr& computed) {
  if (rebuildable_.size() == rebuildable_.capacity())
    std::erase_if(rebuildable_, [](const std::weak_ptr<Node>& node) { return node.expired(); });
  rebuildable_.push_back(computed);

  const bool is_long = computed->value.lineage > longest_lineage;
  const std::uint64_t bytes = context_.pool->lineage_bytes();
  if (!is_long && bytes <= most_lineage_bytes) return;
  // One copy at a time is made in the background; where that is not fast enough, this waits for one.
  const bool is_urgent = is_long || bytes > 2 * most_lineage_bytes;
  if (checkpoints_under_way_ > 0 && !is_urgent) return;
  const bool in_background = checkpoints_under_way_ == 0;
  std::vector<NodePtr> cut;
  if (is_long) cut.push_back(computed);
  else
    for (const std::weak_ptr<Node>& weak : rebuildable_)
      if (NodePtr node = weak.lock(); node && node->holds > 0 && node->value.lineage > 0)
        cut.push_back(std::move(node));
  for (const NodePtr& node : cut) {
    if (!node->value.buffer || !node->value.buffer->is_resident()) continue;
    if (in_background) start_checkpoint(node);
    else checkpoint(*node);
  }
}

// Replaces the lineage of a computed node by a copy on the host, now.
void Recovery::checkpoint(Node& node) {
  context_.pool->copy_to_host(*node.value.buffer);
  node.forget_lineage();
  node.value.lineage = 0;
}

// checkpoint() while other work goes on.
void Recovery::start_checkpoint(const NodePtr& node) {
  const std::shared_ptr<Buffer>& buffer = node->value.buffer;
  auto download = context_.backend->download(buffer->storage(), buffer->spec().dtype, 0, buffer->elements());
  context_.stats.bytes_downloaded += buffer->bytes();
  node->value.lineage = 0;  // lineages of later nodes count from here
  ++checkpoints_under_way_;
  context_.owner.background.add(
      std::move(download),
      [node, spec = buffer->spec(), weak = std::weak_ptr(buffer), version = buffer->version(),
       offset = node->value.offset](ContextState& context, Download* ready, const std::exception_ptr& error) {
        --context.recovery.checkpoints_under_way_;
        if (error) return;  // a loss: the lineage is still there
        // The buffer may have been let go meanwhile, or have other elements.
        std::shared_ptr<Buffer> copied = weak.lock();
        try {
          if (!copied || copied->version() != version) copied = context.pool->from_host(spec);
          std::vector<std::byte> elements(copied->bytes());
          ready->take(elements);
          context.pool->set_host_copy(*copied, std::move(elements));
        } catch (const std::exception&) {
          return;  // a loss too, or host memory ran out
        }
        node->value = {copied, offset, 0};
        node->forget_lineage();
        if (node->holds == 0) context.pool->keep_for_lineage(*copied);
      });
}

// ---- forgetting -------------------------------------------------------------------------------------------------
bool Recovery::can_forget(const Buffer& buffer, std::uint64_t room) const {
  if (!forgets_) return false;
  bool has_user = false;
  for (const std::weak_ptr<Node>& weak : buffer.users()) {
    const NodePtr node = weak.lock();
    if (!node || node->value.buffer.get() != &buffer) continue;
    if (!is_soon_made_again(*node, room)) return false;
    has_user = true;
  }
  return has_user;
}

bool Recovery::stop_forgetting() {
  if (!std::exchange(forgets_, false)) return false;
  context_.owner.messages->debug([] {
    return "spill: there is no room to make again what was forgotten; from now on tensors move to the host instead.";
  });
  std::vector<NodePtr> forgotten;
  for (const std::weak_ptr<Node>& weak : rebuildable_)
    if (NodePtr node = weak.lock(); node && node->holds > 0 && !node->has_elements())
      forgotten.push_back(std::move(node));
  for (const NodePtr& node : forgotten) {
    try {
      compute(context_, node);
      context_.pool->begin_batch();  // so that the node may leave the device
      if (node->value.buffer && context_.pool->can_leave(*node->value.buffer))
        context_.pool->spill(*node->value.buffer);
    } catch (const Error&) {
      continue;  // the node stays pending
    }
  }
  return true;
}

// ---- tests ------------------------------------------------------------------------------------------------------
void Recovery::lose_device_at(int submission, bool is_after) {
  submissions_until_loss_ = submission;
  is_lost_after_ = is_after;
}

void Recovery::about_to_submit() {
  if (submissions_until_loss_ > 0 && --submissions_until_loss_ == 0 && !is_lost_after_) context_.backend->lose();
}

void Recovery::submitted() {
  if (submissions_until_loss_ == 0 && std::exchange(is_lost_after_, false)) context_.backend->lose();
}

}  // namespace tessera
