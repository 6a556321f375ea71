// Finished plans, to be used again.
#pragma once
#include <memory>
#include <string>

#include "core/base/messages.h"
#include "core/base/recent_map.h"
#include "core/graph/known_graph.h"
#include "core/run/fuse.h"

namespace tessera {

class Variants;

// Plans by the signature of their graphs. Where there are too many, the least recently used ones go: a program that
// never repeats itself must not grow.
class PlanCache {
 public:
  explicit PlanCache(MessageSink messages) : messages_(std::move(messages)) {}
  std::shared_ptr<const Plan> get(const Graph&, const Limits&, Variants&);

  // A graph of these nodes that came before, with its plan: looked for without making one. The sketch is sketch_of() of
  // the nodes.
  struct Known {
    std::shared_ptr<KnownGraph> graph;  // nothing where there is none
    std::shared_ptr<const Plan> plan;
  };
  Known find(std::uint64_t sketch, std::span<const Wanted>, const Limits&, Variants&);
  void keep(std::uint64_t sketch, const Limits&, Graph, std::shared_ptr<const Plan>);

  std::uint64_t hits() const { return hits_; }
  void note_hit() { ++hits_; }  // of a plan that its user had kept
  void clear() {
    plans_.clear();
    known_.clear();
  }

 private:
  struct Sketched {
    std::uint64_t sketch;
    Limits limits;
    Known known;
  };
  std::vector<Sketched> known_;  // the last one that was found comes first
  RecentMap<std::string, std::shared_ptr<const Plan>> plans_;
  std::uint64_t hits_ = 0;
  MessageSink messages_;
};

}  // namespace tessera
