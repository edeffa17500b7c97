// Uses of values, in graphs that may have very many outputs.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "assay/graph.h"

namespace assay {

/// Makes every node that reads `from` read `to`. Graph outputs are unchanged, unlike in
/// Graph::replace_uses(), which searches all of them.
void replace_inputs(Value& from, Value* to);

/// Tells whether values are outputs of their graphs. During its lifetime a graph with many outputs may gain
/// and lose some, but not equally many.
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
