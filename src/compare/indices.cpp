#include "compare/indices.h"

#include <span>
#include <unordered_map>

#include "base/log.h"
#include "base/python_repr.h"
#include "compare/pair_check.h"
#include "compare/report.h"
#include "tensor/convert.h"

namespace assay {
namespace {

std::string value_text(int64_t value) { return std::to_string(value); }
std::string value_text(double value) { return python_float_repr(value); }

/// One row of each output.
template <typename T>
class Row {
 public:
  Row(std::span<const T> expected, std::span<const T> actual, int64_t tolerance)
      : expected_(expected), actual_(actual), tolerance_(tolerance) {}

  /// Logs each mismatch, or the first only.
  bool matches(bool fail_fast) {
    bool passed = true;
    const int64_t checked = static_cast<int64_t>(expected_.size()) - tolerance_;
    for (int64_t i = 0; i < checked && (passed || !fail_fast); ++i)
      if (expected_[static_cast<size_t>(i)] != actual_[static_cast<size_t>(i)]) passed &= find(i);
    return passed;
  }

 private:
  bool find(int64_t index) {
    if (places_.empty())
      for (size_t i = 0; i < actual_.size(); ++i) places_.try_emplace(actual_[i], static_cast<int64_t>(i));
    const T value = expected_[static_cast<size_t>(index)];
    const auto place = places_.find(value);
    if (place == places_.end()) {
      log::error("FAILED | Value: {} not found in output", value_text(value));
      return false;
    }
    if (std::abs(place->second - index) <= tolerance_) return true;
    log::error("FAILED | Difference exceeds index tolerance ({})", tolerance_);
    return false;
  }

  std::span<const T> expected_, actual_;
  int64_t tolerance_;
  std::unordered_map<T, int64_t> places_;  ///< first place of each value in actual_; filled when first needed
};

template <typename T>
bool rows_match(std::span<const T> expected, std::span<const T> actual, const Shape& shape, int64_t tolerance,
                bool fail_fast) {
  const auto length = static_cast<size_t>(shape.empty() ? 1 : shape.back());
  bool passed = true;
  for (size_t first = 0; first + length <= expected.size() && length != 0 && (passed || !fail_fast);
       first += length)
    passed &=
        Row<T>(expected.subspan(first, length), actual.subspan(first, length), tolerance).matches(fail_fast);
  return passed;
}

bool outputs_match(const OutputPair& pair, int64_t tolerance, bool fail_fast) {
  const Shape& shape = pair.output0.shape();
  if (is_float(pair.output0.dtype()) || is_float(pair.output1.dtype())) {
    const Tensor a = to_float64(pair.output0), b = to_float64(pair.output1);
    return rows_match(a.span<double>(), b.span<double>(), shape, tolerance, fail_fast);
  }
  const Tensor a = convert(pair.output0, DType::kInt64), b = convert(pair.output1, DType::kInt64);
  return rows_match(a.span<int64_t>(), b.span<int64_t>(), shape, tolerance, fail_fast);
}

}  // namespace

OutputVerdict IndicesComparison::compare(const OutputPair& pair) const {
  const int64_t tolerance = index_tolerance_.get(pair.name0, 0);
  if (pair.output0.shape() != pair.output1.shape()) {
    log::error("Cannot compare outputs of different shapes.");
    return {pair.name0, false, {}};
  }
  if (!check_numeric(pair)) return {pair.name0, false, {}};
  const bool passed = outputs_match(pair, tolerance, fail_fast_);
  if (!passed && fail_fast_) return {pair.name0, false, {}};
  PairReport(pair).log_arrays(!passed);
  if (passed) log::finish("PASSED | Difference is within index tolerance ({})", tolerance);
  return {pair.name0, passed, {}};
}

}  // namespace assay
