// What has to be computed, in order: the first pass over what is wanted.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/backend.h"
#include "core/node.h"

namespace tessera {

// The nodes that wanted ones need, inputs first, each once; costly operations that are equal count as one. Views are
// resolved and constants are kept apart: neither costs anything.
struct GraphItems {
  std::vector<Node*> items, constants;
  std::vector<Number> numbers;  // the constants' values, which stay known when a constant gets elements of its own
  std::vector<int> wanted;      // indices of items; nodes without elements are left out
  // Values that are kept, wanted or not: what a host lent may have changed by the next time, and custom kernels make
  // all their outputs at once.
  std::vector<int> kept;
  std::vector<Node*> runs;  // results of programs that have not run yet; they count as stored
};

// Finds them, and while it lives, nodes know their indices. The caller holds the context's lock and keeps the wanted
// nodes alive; one graph of a context at a time.
class Graph {
 public:
  Graph(std::span<const NodePtr> wanted, const Limits&);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const GraphItems& items() const { return found_; }

  // Equal for graphs that differ only in numbers and in the contents of tensors: one plan serves them all.
  std::string signature() const;

 private:
  void add(Node* root, const Limits&);
  void add_item(Node*);
  bool share(Node*);
  void number_values();
  bool is_worth_sharing(const Node&) const;
  void add_constant(Node*);
  void forget_indices();

  GraphItems found_;
  // Equal operations on equal values give equal values, which are numbered by the first item that has one.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, int, Hash, std::equal_to<>> value_of_operation_;
  std::vector<int> values_;  // of the items, as far as they are numbered
};

// Where a node's elements are: from element `offset` of `node` on, which is no view.
struct Stored {
  Node* node;
  std::int64_t offset;
};
Stored stored(Node*);

bool is_stored(const Node&);  // has its elements, or gets them from outside
bool is_number(const Node&);  // a constant, which its readers take as a parameter

}  // namespace tessera
