// Regressors and classifiers of ai.onnx.ml made ready for many runs.
#pragma once

#include <memory>
#include <vector>

#include "assay/tensor.h"

namespace assay {

class OpContext;

/// What a regressor or classifier makes of rows of features: everything that its node says is read once.
class RowScorer {
 public:
  virtual ~RowScorer() = default;
  /// The operator's outputs, as its evaluation gives them and rounded once, for input 0 as it is stored.
  /// Throws Error as the evaluation does. One caller at a time.
  virtual std::vector<Tensor> run(const Tensor& x) = 0;
};

}  // namespace assay
