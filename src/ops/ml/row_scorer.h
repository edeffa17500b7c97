// Operators of ai.onnx.ml prepared for many runs: regressors, classifiers, tables of labels.
#pragma once

#include <memory>
#include <vector>

#include "assay/tensor.h"

namespace assay {

class OpContext;

/// The computation of such an operator: the node's attributes are all read once.
class RowScorer {
 public:
  virtual ~RowScorer() = default;
  /// Prepares for rows of this type; otherwise the first of them take the time.
  virtual void prepare(DType) {}
  /// The operator's outputs, as its evaluation gives them and rounded once, for input 0 as it is stored.
  /// Throws Error as the evaluation does. One caller at a time.
  virtual std::vector<Tensor> run(const Tensor& x) = 0;
};

}  // namespace assay
