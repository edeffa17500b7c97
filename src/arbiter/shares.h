// Attributes a runner's final error to nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/arbiter.h"
#include "reference/interpreter.h"

namespace assay {

/// Errors of one runner's values, each split into the node's own and the
/// inherited part, as sums of squares. From the last results back, the
/// inherited part is divided among the inputs in proportion to their errors:
/// relative ones, or absolute ones for additions and concatenations.
class ErrorShares {
 public:
  /// In topological order. `own`: the runner's; `computed`: the node's exact result for its inputs; `exact`:
  /// the exact network's. `sources`: the values that it was computed from.
  void add(const ArbiterVerdict& verdict, const Tensor& own, const Tensor& computed, const Tensor& exact,
           const std::vector<std::string>& sources);
  /// The largest first; none without errors.
  std::vector<ErrorShare> shares() const;

 private:
  struct Entry {
    ErrorShare of;
    double added = 0, inherited = 0, total = 0, size = 0;  ///< sums of squares
    std::vector<std::string> sources;
  };
  std::map<size_t, double> sources_of(size_t i) const;

  std::vector<Entry> entries_;
  std::map<std::string, size_t> by_name_;
};

}  // namespace assay
