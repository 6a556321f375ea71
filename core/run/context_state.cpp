#include "core/run/context_state.h"

#include <algorithm>
#include <utility>

#include "core/kernel/closed_backend.h"
#include "core/kernel/vulkan_images.h"
#include "core/platform/heap.h"
#include "core/run/context_impl.h"
#include "core/run/monitor.h"

namespace tessera {
namespace {

std::unique_ptr<Backend> first_backend(const OpenBackend& open, const ContextOptions& options, Messages& messages) {
  try {
    auto backend = open(options, messages.sink());
    messages.deliver();
    return backend;
  } catch (...) {
    messages.deliver();
    throw;
  }
}

}  // namespace

ContextState::ContextState(ContextImpl& owner_in, const ContextOptions& options_in, OpenBackend open_in,
                           bool is_hosts_in)
    : owner(owner_in),
      options(options_in),
      open(std::move(open_in)),
      is_hosts(is_hosts_in),
      backend(first_backend(open, options, *owner.messages)),
      devices{backend->device()},
      recovery(*this),
      pool(std::make_shared<Pool>(
          *backend, stats,
          PoolOptions{.budget = options.memory_budget,
                      .priority = options.priority,
                      .keeps_host_copies = recovery.keeps_lineage(),
                      .can_forget = [this](const Buffer& buffer,
                                           std::uint64_t room) { return recovery.can_forget(buffer, room); },
                      .messages = owner.messages->sink()})),
      plans(owner.messages->sink()),
      trials(*this),
      variants(*this),
      pace(options.max_submissions_under_way),
      vulkan_images(std::make_shared<VulkanImages>()) {}

void ContextState::switch_to(const ContextOptions& wanted) {
  if (is_hosts) throw Error(ErrorCode::unsupported, "switch_backend: this context works on the host's own device.");
  std::unique_ptr<Backend> next = open(wanted, owner.messages->sink());
  recovery.run([&] { pool->copy_all_to_host(); });
  const std::string before = backend->device().name;
  use_backend(std::move(next));
  options.prefer = wanted.prefer;
  options.driver = wanted.driver;
  options.device = wanted.device;
  owner.messages->add(Message::Level::info, "switch_backend: from " + before + " to " + backend->device().name + ".");
}

void ContextState::require_nothing_lent() const {
  std::vector<Resident> lent = why_resident(0);
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

void ContextState::close() {
  if (is_closed) return;
  for (const std::weak_ptr<HostRead>& weak : host_reads)
    if (const std::shared_ptr<HostRead> read = weak.lock()) read->keep();
  if (!backend->is_lost()) backend->wait();
  use_backend(std::make_unique<ClosedBackend>(*backend));
  is_closed = true;
}

void ContextState::require_open() const {
  if (is_closed) ClosedBackend::refuse();
}

void ContextState::use_backend(std::unique_ptr<Backend> next) {
  const KernelOrigins origins = backend->kernel_origins() - kernel_origins_before;
  images.clear();
  vulkan_images->clear();
  if (monitor) {
    try {
      collect_times(true);
    } catch (const Error&) {  // times that nobody can have are no reason not to go on
    }
    monitor->moves(*backend, *next);
  }
  timed_steps.clear();
  timed_plans.clear();
  trials.drop();  // their storages are the old device's
  pace.forget();
  std::swap(backend, next);
  pool->move_to(*backend, recovery.keeps_lineage());
  plans.clear();
  trials.clear(*this);
  tiers.clear();
  variants.clear();
  kernel_origins_before = backend->kernel_origins() - origins;
  devices.push_back(backend->device());
  ++epoch;
}

void ContextState::trim() {
  trials.give_up_first(*this);
  pool->trim();
  images.trim();
  plans.clear();
  tiers.trim();
  spare_dispatches = {};
  backend->trim();
  trim_heap();  // software drivers have their kernels there
}

void ContextState::add(std::shared_ptr<Preparation> preparation) {
  std::erase_if(preparations, [](const auto& other) { return other->is_over(); });
  preparations.push_back(std::move(preparation));
}

bool ContextState::prepare_some(Preparation::Clock::time_point deadline) {
  if (!works_beside())
    for (const std::shared_ptr<Preparation>& preparation : preparations) {
      preparation->compile_until(*this, deadline);
      if (Preparation::Clock::now() >= deadline) break;
    }
  if (is_hosts || !works_beside()) trials.work_until(*this, deadline);
  std::erase_if(preparations, [](const auto& preparation) { return preparation->is_over(); });
  return preparations.empty();
}

std::size_t ContextState::reads_under_way() {
  std::erase_if(host_reads, [](const std::weak_ptr<HostRead>& weak) {
    const std::shared_ptr<HostRead> read = weak.lock();
    return !read || read->is_ready();
  });
  return host_reads.size() + background_reads;
}

std::vector<std::shared_ptr<CallersWork>> ContextState::take_done_work() {
  std::vector<std::shared_ptr<CallersWork>> done;
  std::erase_if(callers_work, [&](const std::shared_ptr<CallersWork>& work) {
    const bool is_done = work->finish_if_ready(*this);
    if (is_done) done.push_back(work);
    return is_done;
  });
  return done;
}

MemoryInfo ContextState::memory_now() const {
  MemoryInfo info = pool->info();
  const KernelCount count = backend->kernels();
  info.kernels = count.kernels;
  info.kernel_bytes = count.text_bytes;
  return info;
}

Stats ContextState::stats_now() const {
  Stats now = stats;
  const KernelOrigins origins = backend->kernel_origins() - kernel_origins_before;
  now.kernels_compiled = origins.compiled;
  now.kernels_from_cache = origins.from_cache;
  now.plans_reused = plans.hits() - plans_reused_before;
  return now;
}

void ContextState::collect_times(bool wait) {
  if (backend->is_lost()) return;
  for (const TimedRun& timed : backend->take_times(wait)) {
    if (trials.timed(timed)) continue;
    if (monitor) monitor->timed(timed);
    timed_steps.timed(timed);
    timed_plans.timed(timed);
  }
}

void ContextState::about_to_submit() {
  if (!pool->is_recording()) pace.make_room(*backend);
  recovery.about_to_submit();
}

void ContextState::submitted() {
  stats.submits += 1;
  if (!pool->is_recording()) pace.submitted(*backend);
  recovery.submitted();
}

}  // namespace tessera
