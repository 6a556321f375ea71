// Finished plans, to be used again.
#pragma once
#include <memory>
#include <string>

#include "core/base/messages.h"
#include "core/base/recent_map.h"
#include "core/run/fuse.h"

namespace tessera {

class Variants;

// Plans by the signature of their graphs. Where there are too many, the least recently used ones go: a program that
// never repeats itself must not grow.
class PlanCache {
 public:
  explicit PlanCache(MessageSink messages) : messages_(std::move(messages)) {}
  std::shared_ptr<const Plan> get(const Graph&, const Limits&, Variants&);
  std::uint64_t hits() const { return hits_; }
  void note_hit() { ++hits_; }  // of a plan that its user had kept
  void clear() { plans_.clear(); }

 private:
  RecentMap<std::string, std::shared_ptr<const Plan>> plans_;
  std::uint64_t hits_ = 0;
  MessageSink messages_;
};

}  // namespace tessera
