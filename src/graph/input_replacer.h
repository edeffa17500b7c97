// Replacing many values in nodes with very many inputs.
#pragma once

#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Like replace_inputs() (graph/uses.h), for many values: searches a node with very many inputs once, not
/// once per value.
class InputReplacer {
 public:
  /// Makes every node that reads `from` read `to`; graph outputs are unchanged.
  void replace(Value& from, Value* to);

 private:
  using Slots = std::unordered_map<const Value*, std::vector<size_t>>;

  void replace_slots(Node& n, Value& from, Value* to, size_t uses);

  std::unordered_map<const Node*, Slots> slots_;
};

}  // namespace assay
