// Descriptions of arrays in comparisons and `inspect data`.
#pragma once

#include <span>
#include <string>

#include "assay/tensor.h"
#include "compare/comparison.h"
#include "compare/match_shape.h"
#include "tensor/numbers.h"
#include "tensor/statistics.h"

namespace assay {

/// `mean=2.5, std-dev=1.118, ..., min=1 at (0,), ..., p99=3.97`. Quantiles are omitted for bool. Values that
/// NumPy computes in float32 (means always, others for float32 numbers) are rounded to it, so that the digits
/// agree.
std::string statistics_text(const Statistics& statistics, DType kind, const Shape& shape,
                            bool is_bool = false);
std::string statistics_text(const ArraySummary& summary);

/// A statistic of the errors with five digits, rounded as above.
std::string error_text(double statistic, DType kind);

/// `(dtype=float32, shape=(1, 3))`.
std::string type_text(const Tensor& tensor);

/// Every line of the text indented by four spaces.
std::string indent_block(const std::string& text);

/// A runner's name in a column of 35 characters.
std::string name_column(const std::string& runner_name);

/// `L2 Norm: 0.89568 (tolerance: 0.001) | FAILED`: a metric and its threshold, with enough digits to
/// distinguish them.
std::string metric_text(CompareFunction function, double value, const MetricThreshold& threshold);

/// Describes the conversion of an array's shape for comparison, or its failure.
void print_shape_steps(std::span<const ShapeStep> steps);

}  // namespace assay
