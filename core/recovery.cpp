// How a context outlives its devices: what is lost is rebuilt, what is moved is kept.
#include <algorithm>
#include <utility>

#include "core/batch.h"
#include "core/closed_backend.h"
#include "core/context_impl.h"
#include "core/monitor.h"

namespace tessera {
namespace {

// Chains longer than this are cut by a copy on the host, and so are those that keep more than this on the host.
constexpr int longest_lineage = 1024;
constexpr std::uint64_t most_lineage_bytes = std::uint64_t{256} << 20;

bool can_be_lost(const Backend& backend) { return backend.device().backend != BackendKind::cpu; }

// Replaces the lineage of a computed node by a copy on the host, now.
void checkpoint(ContextImpl& context, Node& node) {
  context.pool->copy_to_host(*node.value.buffer);
  node.forget_lineage();
  node.value.lineage = 0;
}

// The same while other work goes on.
void start_checkpoint(ContextImpl& context, const NodePtr& node) {
  const std::shared_ptr<Buffer> buffer = node->value.buffer;
  auto download = context.backend->download(buffer->storage(), buffer->spec().dtype, 0, buffer->elements());
  context.stats.bytes_downloaded += buffer->bytes();
  node->value.lineage = 0;  // what comes next counts from here
  ++context.checkpoints_under_way;
  context.background.add(std::move(download), [&context, node, buffer, offset = node->value.offset](
                                                  Download* made, const std::exception_ptr& error) {
    --context.checkpoints_under_way;
    if (error) return;  // a loss: the lineage is still there
    try {
      std::vector<std::byte> elements(buffer->bytes());
      made->take(elements);
      context.pool->set_host_copy(*buffer, std::move(elements));
    } catch (const std::exception&) {
      return;  // likewise, or host memory ran out
    }
    node->value = {buffer, offset, 0};  // the buffer may have been let go meanwhile
    node->forget_lineage();
    if (node->holds == 0) context.pool->keep_for_lineage(*buffer);
  });
}

}  // namespace

void Unheld::add(const NodePtr& node) noexcept {
  const std::scoped_lock hold(lock_);
  try {
    nodes_.push_back(node);
  } catch (const std::bad_alloc&) {
    // Its buffer stays until the last operation that has it in its lineage goes.
  }
}

std::vector<NodePtr> Unheld::take() {
  std::vector<std::weak_ptr<Node>> nodes;
  {
    const std::scoped_lock hold(lock_);
    nodes.swap(nodes_);
  }
  std::vector<NodePtr> alive;
  for (const std::weak_ptr<Node>& weak : nodes)
    if (NodePtr node = weak.lock()) alive.push_back(std::move(node));
  return alive;
}

ContextImpl::ContextImpl(const ContextOptions& options_in, OpenBackend open_in, bool is_hosts_in)
    : messages(std::make_shared<Messages>(options_in)),
      options(options_in),
      open(std::move(open_in)),
      is_hosts(is_hosts_in),
      background(lock) {
  try {
    backend = open(options, messages->sink());
  } catch (...) {
    messages->deliver();
    throw;
  }
  devices.push_back(backend->device());
  pool = std::make_shared<Pool>(*backend, stats,
                                PoolOptions{.budget = options.memory_budget,
                                            .priority = options.priority,
                                            .keeps_host_copies = keeps_lineage(),
                                            .messages = messages->sink()});
  messages->deliver();
}

// Nobody but the host can replace its device: there is nothing to rebuild on.
bool ContextImpl::keeps_lineage() const { return options.survive_device_loss && !is_hosts && can_be_lost(*backend); }

std::string ContextImpl::device_name() {
  const std::scoped_lock hold(lock);
  return backend->device().name;
}

void ContextImpl::replace_device() {
  const std::string lost = backend->device().name;
  if (is_hosts)
    throw Error(ErrorCode::device_lost, "The host's device " + lost + " is lost: only the host can replace it.");
  std::unique_ptr<Backend> replacement;
  ContextOptions same = options;
  same.prefer = {backend->device().backend};
  same.driver = backend->device().driver;
  same.device = {};
  try {
    replacement = open(same, messages->sink());
  } catch (const Error& error) {
    messages->add(Message::Level::warning, "The device " + lost + " is lost and does not come back: " + error.what());
    try {
      replacement = open(options, messages->sink());
    } catch (const Error& none) {
      throw Error(ErrorCode::device_lost, "The device " + lost + " is lost, and there is no other: " + none.what());
    }
  }
  stats.device_losses += 1;
  use_backend(std::move(replacement));
  messages->add(Message::Level::warning, "The device " + lost + " was lost; " + backend->device().name +
                                             " takes its place, and tensors are rebuilt as they are needed.");
}

void ContextImpl::switch_to(const ContextOptions& wanted) {
  if (is_hosts) throw Error(ErrorCode::unsupported, "switch_backend: this context works on the host's own device.");
  std::unique_ptr<Backend> next = open(wanted, messages->sink());
  resilient([&] { pool->copy_all_to_host(); });
  const std::string before = backend->device().name;
  use_backend(std::move(next));
  options.prefer = wanted.prefer;
  options.driver = wanted.driver;
  options.device = wanted.device;
  messages->add(Message::Level::info, "switch_backend: from " + before + " to " + backend->device().name + ".");
}

void ContextImpl::require_nothing_lent() {
  std::vector<Resident> lent = pool->why_resident(0);
  std::erase_if(lent, [](const Resident& resident) { return !resident.is_lent; });
  if (lent.empty()) return;
  std::string text = "switch_backend: the host holds buffers or textures of " + std::to_string(lent.size()) +
                     (lent.size() == 1 ? " tensor" : " tensors") + ", which would go with the device:";
  constexpr std::size_t most_named = 5;
  for (std::size_t i = 0; i < std::min(lent.size(), most_named); ++i) text += (i ? "; " : " ") + to_string(lent[i]);
  text += lent.size() > most_named ? "; and others." : ".";
  throw Error(ErrorCode::invalid_argument, text +
                                               " Let go of them first (GpuData::tensor_ref), or take them back "
                                               "with SwitchOptions::take_back_lent.");
}

void ContextImpl::close() {
  if (is_closed) return;
  if (!backend->is_lost()) backend->wait();
  use_backend(std::make_unique<ClosedBackend>(*backend));
  is_closed = true;
}

void ContextImpl::require_open() const {
  if (is_closed) ClosedBackend::refuse();
}

// The caller has seen to it that what should not get lost is on the host.
void ContextImpl::use_backend(std::unique_ptr<Backend> next) {
  const std::uint64_t compiled = backend->kernels_compiled() - kernels_compiled_before;
  crossings.clear();
  if (monitor) monitor->moves(*backend, *next);
  std::swap(backend, next);
  pool->move_to(*backend, keeps_lineage());
  plans.clear();
  kernels_compiled_before = backend->kernels_compiled() - compiled;
  devices.push_back(backend->device());
  ++epoch;
}

void ContextImpl::about_to_submit() {
  if (loss_on_demand.submissions > 0 && --loss_on_demand.submissions == 0 && !loss_on_demand.is_after) backend->lose();
}

void ContextImpl::submitted() {
  stats.submits += 1;
  if (loss_on_demand.submissions == 0 && std::exchange(loss_on_demand.is_after, false)) backend->lose();
}

void ContextImpl::release_unheld() {
  for (std::vector<NodePtr> nodes = unheld.take(); !nodes.empty(); nodes = unheld.take())
    for (const NodePtr& node : nodes) release(*node);
}

void ContextImpl::release(Node& node) {
  if (node.holds != 0) return;
  node.held_inputs.clear();  // also those of an operation that was part of a kernel and never had a buffer
  std::shared_ptr<Buffer>& buffer = node.value.buffer;
  if (!buffer) return;
  const bool is_shared = buffer.use_count() > 1;  // by a view
  if (!node.is<Computed>()) buffer = nullptr;
  else if (!is_shared && buffer->has_copy()) pool->keep_for_lineage(*buffer);
}

void ContextImpl::has_computed(const NodePtr& node) {
  node->value.buffer->add_user(node);
  if (!keeps_lineage() || node->value.lineage == unknown_lineage) return node->forget_lineage();
  node->held_inputs.clear();
  if (node->value.lineage > 0) bound_lineage(node);
}

void ContextImpl::bound_lineage(const NodePtr& computed) {
  if (rebuildable.size() == rebuildable.capacity())
    std::erase_if(rebuildable, [](const std::weak_ptr<Node>& node) { return node.expired(); });
  rebuildable.push_back(computed);

  const bool is_long = computed->value.lineage > longest_lineage;
  const std::uint64_t bytes = pool->lineage_bytes();
  if (!is_long && bytes <= most_lineage_bytes) return;
  // One copy at a time goes on in the background; where that is not fast enough, this waits for one.
  const bool is_urgent = is_long || bytes > 2 * most_lineage_bytes;
  if (checkpoints_under_way > 0 && !is_urgent) return;
  const bool in_background = checkpoints_under_way == 0;
  std::vector<NodePtr> cut;
  if (is_long) cut.push_back(computed);
  else
    for (const std::weak_ptr<Node>& weak : rebuildable)
      if (NodePtr node = weak.lock(); node && node->holds > 0 && node->value.lineage > 0)
        cut.push_back(std::move(node));
  for (const NodePtr& node : cut) {
    if (!node->value.buffer || !node->value.buffer->is_resident()) continue;
    if (in_background) start_checkpoint(*this, node);
    else checkpoint(*this, *node);
  }
}

}  // namespace tessera
