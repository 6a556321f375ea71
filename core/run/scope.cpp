#include "core/run/scope.h"

#include <algorithm>

#include "core/run/context_impl.h"
#include <tessera/scope.h>

namespace tessera {
namespace {

thread_local std::vector<std::weak_ptr<ScopeState>> opened;  // on this thread; some may have ended

}  // namespace

struct ScopeState {
  std::shared_ptr<ContextImpl> context;
  std::vector<std::weak_ptr<Node>> nodes{};
  std::size_t made = 0;
};

Scope::Scope(const Context& context)
    : state_(std::make_shared<ScopeState>(ScopeState{ContextAccess::impl(context).shared_from_this()})) {
  std::erase_if(opened, [](const std::weak_ptr<ScopeState>& scope) { return scope.expired(); });
  opened.push_back(state_);
  open_scopes.fetch_add(1, std::memory_order_relaxed);
}

Scope::~Scope() {
  open_scopes.fetch_sub(1, std::memory_order_relaxed);
  const std::vector<Survivor> alive = survivors();
  if (alive.empty()) return;
  std::string text = "scope: " + std::to_string(alive.size()) + " of " + std::to_string(state_->made) +
                     " tensors made in it are still alive:";
  constexpr std::size_t most_named = 10;
  for (std::size_t i = 0; i < std::min(alive.size(), most_named); ++i)
    text += (i ? "; " : " ") + alive[i].shape.to_string() + ' ' + std::string(to_string(alive[i].dtype)) + " by " +
            alive[i].op + (alive[i].label.empty() ? "" : ", \"" + alive[i].label + '"');
  text += alive.size() > most_named ? "; and others." : ".";
  state_->context->messages->add(Message::Level::warning, std::move(text));
  state_->context->messages->deliver();
}

const Tensor& Scope::keep(const Tensor& tensor) {
  const NodeInfo& kept = TensorAccess::info(tensor);
  std::erase_if(state_->nodes, [&](const std::weak_ptr<Node>& noted) { return noted.lock().get() == &kept; });
  return tensor;
}

void Scope::keep_all() { state_->nodes.clear(); }

std::size_t Scope::made() const { return state_->made; }

std::vector<Survivor> Scope::survivors() const {
  std::vector<Survivor> alive;
  std::vector<NodePtr> held;  // so that no node goes under the lock
  {
    const LockedContext context(*state_->context, LockedContext::Closed::allowed);
    for (const std::weak_ptr<Node>& weak : state_->nodes) {
      NodePtr node = weak.lock();
      if (node && node->holds > 0)
        alive.push_back({node->shape, node->dtype,
                         node->value.buffer ? node->value.buffer->op() : op_name(node->operation), node->label,
                         static_cast<int>(node->first_hold.use_count())});
      held.push_back(std::move(node));
    }
  }
  return alive;
}

void note_in_own_scopes(Node& node) {
  for (const std::weak_ptr<ScopeState>& weak : opened) {
    const std::shared_ptr<ScopeState> scope = weak.lock();
    if (!scope || node.context != scope->context) continue;
    std::vector<std::weak_ptr<Node>>& nodes = scope->nodes;
    ++scope->made;
    if (nodes.size() == nodes.capacity())
      std::erase_if(nodes, [](const std::weak_ptr<Node>& noted) { return noted.expired(); });
    nodes.push_back(node.weak_from_this());
  }
}

}  // namespace tessera
