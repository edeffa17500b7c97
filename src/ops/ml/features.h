// Inputs of the ai.onnx.ml operators: rows of features, and lists of labels.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Input i, given as `t`, as float64. Throws Error unless it is of numbers.
Tensor as_numbers(const OpContext& c, size_t i, const Tensor& t);
inline Tensor number_input(const EvalContext& c, size_t i) { return as_numbers(c, i, c.input(i)); }

/// The shape of input 0: [N, F], or [F] for one row.
struct FeatureShape {
  /// Throws Error for another rank.
  FeatureShape(const OpContext& c, const Shape& shape);

  int64_t rows, count;
};

/// Input 0, of any numeric type, as float64.
class Features : public FeatureShape {
 public:
  /// Throws Error as FeatureShape and as_numbers().
  explicit Features(const EvalContext& c) : Features(c, c.input(0)) {}
  Features(const OpContext& c, const Tensor& x) : FeatureShape(c, x.shape()), values_(as_numbers(c, 0, x)) {}

  const double* row(int64_t i) const { return values_.data<double>() + i * count; }

 private:
  Tensor values_;
};

/// The N of input 0 as far as it is known. Throws Error for a rank that Features does not take.
Dim infer_rows(const InferContext& c);
/// Output 0 becomes float32 [N, columns].
void infer_score_rows(InferContext& c, Dim columns);

/// A classifier's labels: integers or strings.
class ClassLabels {
 public:
  /// Throws Error unless exactly one of the two attributes has labels.
  ClassLabels(const OpContext& c, std::string_view ints, std::string_view strings);

  size_t size() const { return static_cast<size_t>(labels_.numel()); }
  DType dtype() const { return labels_.dtype(); }
  const Tensor& labels() const { return labels_; }
  /// One label for each row. An index of kNoLabel gives 0 or "".
  Tensor pick(const std::vector<size_t>& indices) const;
  static constexpr size_t kNoLabel = SIZE_MAX;

 private:
  Tensor labels_;
};

/// Output 0 becomes the labels' type, [N]; output 1 float32 [N, columns].
void infer_classifier(InferContext& c, const ClassLabels& labels, Dim columns);

}  // namespace assay
