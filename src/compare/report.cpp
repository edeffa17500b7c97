#include "compare/report.h"

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/python_repr.h"
#include "tensor/position.h"

namespace assay {
namespace {

std::string shape_tuple(const std::vector<int64_t>& dims) { return Shape(dims.begin(), dims.end()).str(); }

/// The position of a row-major index, as Python prints a tuple; 0 for the index of no element.
std::string position_text(int64_t index, const Shape& shape) {
  return index < 0 ? "0" : index_at(shape, index).str();
}

}  // namespace

std::string error_text(double statistic, DType kind) {
  return format_g(kind == DType::kFloat32 ? static_cast<float>(statistic) : statistic, 5);
}

std::string statistics_text(const ArraySummary& a) {
  return statistics_text(a.statistics, a.kind, a.shape, a.dtype == DType::kBool);
}

std::string statistics_text(const Statistics& s, DType kind, const Shape& shape, bool is_bool) {
  const auto mean = [](double x) { return error_text(x, DType::kFloat32); };
  const auto own = [&](double x) { return error_text(x, kind); };
  std::string text = fmt::format(
      "mean={}, std-dev={}, var={}, median={}, min={} at {}, max={} at {}, avg-magnitude={}", mean(s.mean),
      own(s.std_dev), own(s.variance), own(s.median), own(s.min), position_text(s.min_index, shape),
      own(s.max), position_text(s.max_index, shape), mean(s.average_magnitude));
  if (!is_bool) text += fmt::format(", p90={}, p95={}, p99={}", own(s.p90), own(s.p95), own(s.p99));
  return text;
}

std::string type_text(const Tensor& tensor) {
  return fmt::format("(dtype={}, shape={})", dtype_name(tensor.dtype()), tensor.shape().str());
}

std::string indent_block(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

std::string name_column(const std::string& runner_name) { return fmt::format("{:35}", runner_name); }

std::string metric_text(CompareFunction function, double value, const MetricThreshold& threshold) {
  const bool is_distance = function == CompareFunction::kL2 || function == CompareFunction::kLpips;
  const bool is_ratio = function == CompareFunction::kPsnr || function == CompareFunction::kSnr;
  const double limit = threshold.value.value;
  int digits = 5;
  while (digits < 17 && value != limit && format_g(value, digits) == format_g(limit, digits)) ++digits;
  const char* unit = is_ratio ? " dB" : "";
  return fmt::format("{}: {}{} ({}: {}{}) | {}", compare_function_label(function), format_g(value, digits),
                     unit, is_distance ? "tolerance" : "min required", format_g(limit, digits), unit,
                     meets(function, value, threshold) ? "PASSED" : "FAILED");
}

void print_shape_steps(std::span<const ShapeStep> steps) {
  for (const ShapeStep& s : steps) switch (s.kind) {
      case ShapeStep::Kind::kReshaped:
        diag::info("Reshaped array from shape: {} to: {}", shape_tuple(s.from), shape_tuple(s.to));
        break;
      case ShapeStep::Kind::kPermuted:
        diag::info("Permuted array of shape: {} to: {} using permutation {}", shape_tuple(s.from),
                   shape_tuple(s.to), python_list_repr(std::span<const int64_t>(s.permutation)));
        break;
      case ShapeStep::Kind::kCannotReshape:
        diag::warning("Could not reshape array from shape: {} to {}. Skipping reshape.", shape_tuple(s.from),
                      shape_tuple(s.to));
        break;
      case ShapeStep::Kind::kCannotPermute:
        diag::extra_verbose("Array of shape: {} cannot be permuted to: {}", shape_tuple(s.from),
                            shape_tuple(s.to));
        break;
    }
}

}  // namespace assay
