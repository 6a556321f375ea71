// The work that wanted nodes need, in order. Planning reads graphs instead of nodes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/node.h"
#include "core/kernel/backend.h"

namespace tessera {

// A node whose elements a caller wants.
struct Wanted {
  NodePtr node;
  std::uint64_t layout = 0;            // of the storage, see StorageSpec, if the node gets one of its own
  bool is_whole = false;               // the elements start at the first one of a storage; else they may lie within one
  const HostTarget* target = nullptr;  // the pixels go there, and nobody wants the elements
  std::shared_ptr<Buffer> into{};      // whose storage gets the elements, where kernels can write them there
  bool is_for_kernels = false;         // of later frames: see Value::in_texels

  bool is_in_texels() const { return is_for_kernels && node->in_texels(); }  // and nothing more is to be done
};

// One operation, with views followed and numbers apart, or what replaces it where the device cannot run it.
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

  Node* node;                  // gets the elements if they are kept
  const Operation* operation;  // the node's own, or the number behind it
  bool is_stored;              // the node has its elements, or gets them from outside
  bool is_own = false;         // the node is in own_nodes
  std::int64_t start = 0;      // where the elements begin in their storage
  std::uint64_t layout = 0;
  int lineage = 0;
  int number = none;                   // of a constant that is wanted as elements
  int first_number = none;             // of the elements that the node has, where these are few and known
  const HostSource* source = nullptr;  // the host's texture that the item reads, where pixel kernels can sample it
  bool is_overwritten = false;         // one of Graph::shown writes the host's texture that the item reads, or lies in
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
  std::vector<GraphItem> items;  // operands first, each once; equal costly operations are one item

  struct Constant {
    Number value;
    DType dtype;
  };
  std::vector<Constant> numbers;
  bool is_half = false;  // images that nobody else sees are kept in f16, and read between pixels by the device's filter

  struct Place {
    int item = GraphItem::none;
    std::int64_t offset = 0;
    bool is_for_kernels = false;  // see Wanted
  };
  std::vector<Place> wanted;  // where the wanted nodes are; no item for those without elements

  // Wanted nodes whose pixels go to a host.
  struct Shown {
    std::size_t wanted;
    Shape shape;  // of the node
    const HostTarget* target;
  };
  std::vector<Shown> shown;
  void note_overwritten(GraphItem&, const Storage*) const;  // the storage is the item's, if it has one
  bool is_shown(std::size_t wanted_index) const {
    return std::ranges::find(shown, wanted_index, &Shown::wanted) != shown.end();
  }

  // Items whose elements are kept, wanted or not: a host's texture may have changed by the next time, and custom
  // kernels make all their outputs at once.
  std::vector<int> kept;

  // Nodes whose elements an item of another node has, which is equal or replaces them.
  struct Equal {
    Node* node;
    Place place;
  };
  std::vector<Equal> equals;

  std::vector<Node*> runs;      // results of programs that have not run yet; they count as stored
  std::vector<Held> own_nodes;  // nodes that replace or copy others, known to the graph alone

  const GraphItem& at(int index) const { return items[static_cast<std::size_t>(index)]; }
};

// The caller keeps the wanted nodes alive. Throws device_lost where elements are needed that cannot be rebuilt.
Graph make_graph(const ContextState&, std::span<const Wanted>, const Limits&);

// Graphs that differ only in numbers and in the contents of tensors have equal signatures: one plan serves them all.
std::string signature_of(const Graph&);

// The number of operations that rebuild what is computed from these: see Value.
int lineage_after(const Graph&, std::span<const GraphItem::Operand>);

// The elements of an item that is stored, where these are few and known; `room` is for those that have to be copied.
std::span<const Number> few_numbers_of(const GraphItem&, std::vector<Number>& room);

// A node's elements are those of `node`, which is no view, from element `offset` on.
struct Location {
  Node* node;
  std::int64_t offset;

  std::int64_t start() const { return offset + (node->has_elements() ? node->value.offset : 0); }
};
inline Location location_of(Node* node) {
  std::int64_t offset = 0;
  while (!node->has_elements() && node->is<View>()) {
    offset += std::get<View>(node->operation).offset;
    node = node->inputs[0].get();
  }
  return {node, offset};
}

// A node with the same elements in a storage of its own.
NodePtr copy_of(const NodePtr&);

// See Value::in_texels: the shape with four channels, and the image itself.
Shape shape_in_texels(const Shape& of_three_channels);
NodePtr three_channels_of(const NodePtr& in_texels);

}  // namespace tessera
