// Siblings: equal work of families on tensors of equal sizes, none of which needs another's result, as ten means of ten
// tensors. One kernel makes the results of all of them, one after the other in one storage.
#pragma once
#include <vector>

#include "core/run/fuse.h"

namespace tessera {

struct JoinedSiblings {
  // With an item for each group of siblings in their place, which the others read from. Empty where there are none.
  Graph graph;
  std::vector<int> items;  // of the graph that was given, for each item here: of a group, its first
  std::vector<NodePtr> nodes;

  void name_items_as_before(Plan&, const Graph& before) const;
};

JoinedSiblings join_siblings(const Graph&, const Limits&);

// Whether so many equal ones of this item may be part of the pointwise kernel that reads the results of all of them.
// Each invocation does them one after the other, which takes less than a kernel of their own where they are short.
bool may_be_values(const GraphItem&, std::size_t count, const Limits&);

}  // namespace tessera
