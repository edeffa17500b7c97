// Replacing many values in nodes with very many inputs.
#pragma once

#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// Does what replace_inputs() (graph/uses.h) does, for many values: looks through the inputs of a node that
/// has very many of them once, not for each.
class InputReplacer {
 public:
  /// Every node that reads `from` reads `to` instead; graph outputs stay.
  void replace(Value& from, Value* to);

 private:
  using Slots = std::unordered_map<const Value*, std::vector<size_t>>;

  void replace_slots(Node& n, Value& from, Value* to, size_t uses);

  std::unordered_map<const Node*, Slots> slots_;
};

}  // namespace assay
