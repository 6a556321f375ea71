// Graphs that were planned before, which further nodes are compared with instead of making a graph of them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace tessera {

// A graph whose nodes and numbers are those of whoever asked last. What it is compared by is its own: the nodes that it
// was made of may be gone.
class KnownGraph {
 public:
  // Nothing for a graph of which more than the structure counts: with work that a host sees or a user wrote, with
  // operations that stand for equal ones, that replace others but for a single one on the same inputs, or with numbers
  // that are wanted as elements.
  static std::shared_ptr<KnownGraph> of(Graph);

  // Whether these need the same work; if so, the graph is made of their nodes, as make_graph() would.
  bool is_of(std::span<const Wanted>);

  const Graph& graph() const { return graph_; }
  std::size_t size() const { return graph_.items.size(); }

 private:
  struct Work {  // of an item
    Shape shape;
    DType dtype;
    Operation operation;                  // of the node; nothing for an item that is stored
    std::optional<Operation> replaced{};  // by this one, where the device cannot run the node's
  };
  KnownGraph(Graph, std::vector<Work>);
  bool bind_wanted(std::span<const Wanted>);
  bool bind_operands(const GraphItem&, const Work&);
  bool bind_stored(GraphItem&);
  bool bind_item(int item, Node&);
  bool bind_number(int number, const Node&);
  bool bind_few_numbers(const GraphItem&);

  Graph graph_;
  std::vector<Work> work_;                 // by item
  std::vector<const Node*> number_nodes_;  // by number; nothing for elements of items
  std::vector<Number> few_numbers_;        // room for those of one item
};

// Nodes that a known graph may be of have its number: from the kinds of the operations next to them.
std::uint64_t sketch_of(std::span<const Wanted>);

}  // namespace tessera
