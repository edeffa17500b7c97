// Evidence for an edit whose results differ from the original's: evaluations that show why they may.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "assay/graph.h"

namespace assay::fuzz {

/// Of a floating type: unit roundoff, smallest and largest number.
struct Arithmetic {
  double unit, least, most;
};

Arithmetic arithmetic_of(DType t);

/// The elements of a tensor in float64.
std::vector<double> numbers_of(const Tensor& t);

/// Steps that one evaluation may take.
inline constexpr int64_t kMaxWork = 1 << 24;

/// Numbers of one output, element by element; empty where an evaluation says nothing of them.
using OutputNumbers = std::vector<std::vector<double>>;

/// Evaluates only what is asked for, each once.
class Evidence {
 public:
  Evidence(std::shared_ptr<const Model> original, std::shared_ptr<const Model> edited,
           const std::vector<Tensor>& feed);

  /// The original's results as the types round, where all infinite inputs and constants are 0, and NaN as
  /// well.
  const OutputNumbers& of_finite_inputs();
  /// The same where NaN stays.
  const OutputNumbers& without_infinities();
  /// How far the original's results move, as the types round, when each input moves by a few roundings, and
  /// each value that is in both graphs by a few of the smallest numbers of its type.
  const OutputNumbers& sensitivity();
  /// Of an edited graph that only adds and multiplies, fed finite numbers: the sum of the magnitudes of all
  /// terms of a result. Empty for other graphs.
  const OutputNumbers& magnitudes();
  /// Whether a value within the edited graph, fed finite numbers, leaves the range of its type.
  bool leaves_range();
  /// Whether float64 holds products of the numbers at hand as if it had no ends.
  bool has_headroom();

 private:
  std::shared_ptr<const Model> original_, edited_;
  const std::vector<Tensor>& feed_;
  std::optional<OutputNumbers> finite_, without_infinities_, sensitivity_, magnitudes_;
  std::optional<bool> leaves_range_, has_headroom_;
};

}  // namespace assay::fuzz
