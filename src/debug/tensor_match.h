// Which tensors of two models are the same ones, such as before and after an edit or an update of an
// exporter.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"

namespace assay::debug {

enum class MatchedBy : uint8_t {
  kComputation,  ///< they are computed in the same way from the same inputs and the same constants
  kName,
  kPlace,   ///< they are computed in the same way, from constants of the same types and extents
  kValues,  ///< they are equal when the models run
};
/// `computation`, `name`, `place`, `values`.
const char* matched_by_name(MatchedBy by);

struct TensorMatch {
  const Value* first = nullptr;
  const Value* second = nullptr;
  MatchedBy by = MatchedBy::kName;
};

/// One to one.
class TensorMatches {
 public:
  /// False, and nothing happens, where one of them has another already.
  bool add(const Value& first, const Value& second, MatchedBy by);
  /// Null where there is none.
  const TensorMatch* of_first(const Value& v) const;
  const TensorMatch* of_second(const Value& v) const;
  /// The two are no longer matched.
  void remove(const TensorMatch& match);
  size_t size() const { return by_first_.size(); }

 private:
  std::unordered_map<const Value*, TensorMatch> by_first_, by_second_;
};

/// Inputs and results of nodes of the main graphs, which are in topological order. Where the same computation
/// leads to tensors of other names that counts more than names, since exporters number what they make.
TensorMatches match_tensors(const Model& first, const Model& second);

}  // namespace assay::debug
