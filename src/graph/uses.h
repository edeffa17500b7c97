// Uses of values, in graphs that may have very many outputs.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "assay/graph.h"

namespace assay {

/// Every node that reads `from` reads `to` instead. Graph outputs stay, unlike with Graph::replace_uses(),
/// which looks through all of them.
void replace_inputs(Value& from, Value* to);

/// Answers whether values are outputs of their graphs. While it lives, a graph with many outputs may get and
/// lose some, but not as many of either.
class OutputIndex {
 public:
  bool contains(const Value& v);

 private:
  struct Outputs {
    size_t count = 0;
    std::unordered_set<const Value*> set;
  };
  std::unordered_map<const Graph*, Outputs> many_;
};

}  // namespace assay
