// The work that wanted nodes need, in order: what planning reads instead of nodes.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/kernel/backend.h"
#include "core/graph/node.h"

namespace tessera {

// A node whose elements a caller wants.
struct Wanted {
  NodePtr node;
  std::uint64_t layout = 0;  // of its storage, see StorageSpec, if it gets one of its own
  bool is_whole = false;     // its elements are to start with the first one of a storage; else they may lie within one
};

// One operation, with its views followed, its numbers apart, and replaced by others where the device cannot run it.
struct GraphItem {
  // Elements of another item, from `offset` on, or a number.
  struct Operand {
    Shape shape;
    int item = none, number = none;
    std::int64_t offset = 0;

    bool is_number() const { return number != none; }
    bool operator==(const Operand&) const = default;
  };
  static constexpr int none = -1;

  Node* node;                  // which gets the elements if they are kept
  const Operation* operation;  // the node's own, or the number behind it
  bool is_stored;              // it has its elements, or gets them from outside
  bool is_own = false;         // the node is the graph's own, which nobody else knows
  std::int64_t start = 0;      // where they begin in their storage
  std::uint64_t layout = 0;
  int lineage = 0;
  int number = none;  // of a constant that is wanted as elements
  std::vector<Operand> operands{};
  std::vector<int> custom_outputs{};  // of a custom kernel: the items to make; none where nobody refers to an output

  Part part() const { return is_stored ? Part::none : part_of(*operation); }
  const Shape& shape() const { return node->shape; }
  DType dtype() const { return node->dtype; }
  template <class Kind>
  const Kind* as() const {
    return is_stored ? nullptr : std::get_if<Kind>(operation);
  }
  template <class Kind>
  bool is() const {
    return as<Kind>() != nullptr;
  }
};

struct Graph {
  std::vector<GraphItem> items;  // operands first, each once; costly operations that are equal are one

  struct Constant {
    Number value;
    DType dtype;
  };
  std::vector<Constant> numbers;

  struct Place {
    int item = GraphItem::none;
    std::int64_t offset = 0;
  };
  std::vector<Place> wanted;  // where the wanted nodes are; no item for those without elements

  // Items that are kept, wanted or not: what a host lent may have changed by the next time, and custom kernels make
  // all their outputs at once.
  std::vector<int> kept;

  // Nodes whose elements are those of another node's item, which is equal or replaces it.
  struct Equal {
    Node* node;
    Place place;
  };
  std::vector<Equal> equals;

  std::vector<Node*> runs;      // results of programs that have not run yet; they count as stored
  std::vector<Held> own_nodes;  // that replace others, or copy them

  const GraphItem& at(int index) const { return items[static_cast<std::size_t>(index)]; }
};

// The caller keeps the wanted nodes alive. Throws device_lost where elements are needed that cannot be rebuilt.
Graph make_graph(const ContextState&, std::span<const Wanted>, const Limits&);

// Equal for graphs that differ only in numbers and in the contents of tensors: one plan serves them all.
std::string signature_of(const Graph&);

// Where a node's elements are: from element `offset` of `node` on, which is no view.
struct Location {
  Node* node;
  std::int64_t offset;

  std::int64_t start() const { return offset + (node->has_elements() ? node->value.offset : 0); }
};
Location location_of(Node*);

// The same elements in a storage of its own.
NodePtr copy_of(const NodePtr&);

}  // namespace tessera
