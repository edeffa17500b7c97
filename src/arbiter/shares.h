// Which nodes a runner's final error comes from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/arbiter.h"
#include "reference/interpreter.h"

namespace assay {

/// Errors of one runner's values, each divided into what its node adds and what came with its inputs, as sums
/// of squares. From the last results back, the part of an error that came with the inputs is divided among
/// them in proportion to their errors: in relation to their own numbers, or, of what adds or puts together,
/// as they are.
class ErrorShares {
 public:
  /// In topological order. `own`: the runner's; `computed`: what the node gives for its inputs; `exact`: of
  /// the exact network. `sources`: the values that it was computed from.
  void add(const ArbiterVerdict& verdict, const Tensor& own, const Tensor& computed, const Tensor& exact,
           const std::vector<std::string>& sources);
  /// The largest first; none where nobody erred.
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
