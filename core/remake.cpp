// Room on the device without copies on the host: tensors that are soon made again are forgotten, see Priority::memory.
#include <algorithm>
#include <set>

#include "core/batch.h"
#include "core/context_impl.h"

namespace tessera {
namespace {

constexpr int most_operations = 16;

// Work that is done while elements are on their way, as part of whatever kernel reads the result.
bool is_cheap(const Node& node) {
  if (const auto* family = std::get_if<Family>(&node.operation)) return node.inputs.empty() && family->workgroups == 0;
  return node.is<Pointwise>() || node.is<Cast>() || node.is<Strided>() || node.is<View>() || node.is<Constant>();
}

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
    if (!is_cheap(next) || ++operations > most_operations) return false;
    for (const NodePtr& input : next.inputs) to_visit.push_back(input.get());
  }
  return bytes <= room;
}

}  // namespace

bool Buffer::is_soon_made_again(std::uint64_t room) const {
  bool has_user = false;
  for (const std::weak_ptr<Node>& weak : users_) {
    const NodePtr node = weak.lock();
    if (!node || node->value.buffer.get() != this) continue;
    if (!tessera::is_soon_made_again(*node, room)) return false;
    has_user = true;
  }
  return has_user;
}

bool ContextImpl::stop_forgetting() {
  if (!pool->forgets()) return false;
  pool->stop_forgetting();
  messages->debug([] {
    return "spill: there is no room to make again what was forgotten; from now on tensors move to the host instead.";
  });
  bool has_helped = false;
  std::vector<NodePtr> forgotten;
  for (const std::weak_ptr<Node>& weak : rebuildable)
    if (NodePtr node = weak.lock(); node && node->holds > 0 && !node->has_elements())
      forgotten.push_back(std::move(node));
  for (const NodePtr& node : forgotten) {
    try {
      compute(*this, node);
      pool->begin_batch();  // which does not need it
      if (node->value.buffer && pool->can_leave(*node->value.buffer)) pool->spill(*node->value.buffer);
      has_helped = true;
    } catch (const Error&) {
      continue;  // it stays pending
    }
  }
  return has_helped;
}

}  // namespace tessera
