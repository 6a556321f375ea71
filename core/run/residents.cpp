// The tensors that take device memory, and what for.
#include <algorithm>
#include <set>

#include "core/run/context_state.h"

namespace tessera {

void Buffer::add_user(const std::shared_ptr<Node>& node) {
  // Views of long-lived tensors come and go: nodes that went make room for the next.
  if (users_.size() == users_.capacity())
    std::erase_if(users_, [](const std::weak_ptr<Node>& user) { return user.expired(); });
  users_.push_back(node);
}

std::vector<Resident> ContextState::why_resident(std::uint64_t at_least) const {
  std::vector<Resident> residents;
  for (const std::shared_ptr<Buffer>& buffer : pool->live()) {
    if (!buffer->is_resident() && !buffer->is_spilled()) continue;
    Resident resident{.bytes = buffer->is_resident() ? buffer->device_bytes() : buffer->bytes(),
                      .shape = Shape{buffer->elements()},
                      .dtype = buffer->spec().dtype,
                      .op = buffer->op(),
                      .label = {},
                      .holders = 0,
                      .is_lent = buffer->is_lent(),
                      .is_borrowed = buffer->is_borrowed(),
                      .is_spilled = buffer->is_spilled()};
    if (resident.bytes < at_least) continue;
    std::shared_ptr<Buffer> tensor = buffer;
    if (const std::shared_ptr<Buffer> original = buffer->original()) {
      tensor = original;
      resident.op = original->op() + ", laid out";
      resident.shape = Shape{original->elements()};
      resident.dtype = original->spec().dtype;
    }
    bool has_shape = false;
    std::set<const Node*> seen;  // a rebuilt node is there twice
    for (const std::weak_ptr<Node>& weak : tensor->users()) {
      const NodePtr node = weak.lock();
      if (!node || node->value.buffer != tensor || !seen.insert(node.get()).second) continue;
      resident.holders += static_cast<int>(node->first_hold.use_count());
      if (resident.label.empty()) resident.label = node->label;
      if (has_shape || node->shape.size() != tensor->elements()) continue;
      resident.shape = node->shape;
      has_shape = true;
    }
    residents.push_back(std::move(resident));
  }
  std::ranges::stable_sort(residents, std::ranges::greater{}, &Resident::bytes);
  return residents;
}

std::string to_string(const Resident& resident) {
  std::string line = megabytes(resident.bytes) + ' ' + resident.shape.to_string() + ' ' +
                     std::string(to_string(resident.dtype)) + " by " + resident.op;
  if (!resident.label.empty()) line += ", \"" + resident.label + '"';
  line += ", " + std::to_string(resident.holders) + (resident.holders == 1 ? " holder" : " holders");
  if (resident.is_lent) line += ", lent to the host";
  if (resident.is_borrowed) line += ", borrowed from the host";
  if (resident.is_spilled) line += ", spilled to host memory";
  return line;
}

std::string to_string(std::span<const Resident> residents) {
  std::string text;
  std::uint64_t on_device = 0;
  for (const Resident& resident : residents) {
    text += to_string(resident) + '\n';
    if (!resident.is_spilled) on_device += resident.bytes;
  }
  return text + megabytes(on_device) + " on the device in " + std::to_string(residents.size()) + " tensors\n";
}

}  // namespace tessera
