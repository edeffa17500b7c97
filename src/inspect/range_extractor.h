// Extracts parts of a model as separate models.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/graph.h"
#include "assay/inspect.h"
#include "graph/function_index.h"

namespace assay {

/// Extracts ranges of nodes from a model, each at a cost proportional to the range, not the model. The model
/// must not change meanwhile.
class RangeExtractor {
 public:
  explicit RangeExtractor(const Model& model);

  /// A range as a separate model. Its inputs are the outer values that it reads, its outputs those that are
  /// used outside or not at all. Constants, also those of Constant nodes elsewhere, and called functions are
  /// included.
  std::shared_ptr<Model> extract(NodeRange range) const;

 private:
  /// The first and the last node of the main graph that use a value, themselves or in their bodies.
  struct Users {
    size_t first, last;
  };

  bool is_made_inside(const Value* v, NodeRange range) const;
  bool is_used_outside(const Value* v, NodeRange range) const;
  bool is_used_inside(const Value* v, NodeRange range) const;
  void add_functions(Model& part) const;

  const Model& model_;
  const FunctionIndex functions_;
  std::unordered_map<const Node*, size_t> places_;
  std::unordered_map<const Value*, Users> users_;
  std::unordered_set<const Value*> outputs_;
  std::unordered_map<std::string_view, std::vector<size_t>>
      annotations_;  ///< of tensors, by their places in the list
};

}  // namespace assay
