#include "compare/indices.h"

#include <span>
#include <unordered_map>

#include "base/python_repr.h"
#include "compare/pair_check.h"
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

  /// Adds each mismatch, or the first only.
  void look(bool fail_fast, std::vector<IndexMismatch>& found) {
    const int64_t checked = static_cast<int64_t>(expected_.size()) - tolerance_;
    for (int64_t i = 0; i < checked && (found.empty() || !fail_fast); ++i)
      if (expected_[static_cast<size_t>(i)] != actual_[static_cast<size_t>(i)]) look_for(i, found);
  }

 private:
  void look_for(int64_t index, std::vector<IndexMismatch>& found) {
    if (places_.empty())
      for (size_t i = 0; i < actual_.size(); ++i) places_.try_emplace(actual_[i], static_cast<int64_t>(i));
    const T value = expected_[static_cast<size_t>(index)];
    const auto place = places_.find(value);
    if (place == places_.end())
      found.push_back({value_text(value)});
    else if (std::abs(place->second - index) > tolerance_)
      found.push_back({});
  }

  std::span<const T> expected_, actual_;
  int64_t tolerance_;
  std::unordered_map<T, int64_t> places_;  ///< first place of each value in actual_; filled when first needed
};

template <typename T>
std::vector<IndexMismatch> look_at_rows(std::span<const T> expected, std::span<const T> actual,
                                        const Shape& shape, int64_t tolerance, bool fail_fast) {
  const auto length = static_cast<size_t>(shape.empty() ? 1 : shape.back());
  std::vector<IndexMismatch> found;
  for (size_t first = 0; first + length <= expected.size() && length != 0 && (found.empty() || !fail_fast);
       first += length)
    Row<T>(expected.subspan(first, length), actual.subspan(first, length), tolerance).look(fail_fast, found);
  return found;
}

std::vector<IndexMismatch> look_at(const OutputPair& pair, int64_t tolerance, bool fail_fast) {
  const Shape& shape = pair.output0.shape();
  if (is_float(pair.output0.dtype()) || is_float(pair.output1.dtype())) {
    const Tensor a = to_float64(pair.output0), b = to_float64(pair.output1);
    return look_at_rows(a.span<double>(), b.span<double>(), shape, tolerance, fail_fast);
  }
  const Tensor a = convert(pair.output0, DType::kInt64), b = convert(pair.output1, DType::kInt64);
  return look_at_rows(a.span<int64_t>(), b.span<int64_t>(), shape, tolerance, fail_fast);
}

}  // namespace

OutputResult IndicesComparison::compare_pair(const OutputPair& pair, PairCache&,
                                             const CompareOptions& options, CompareObserver& observer) const {
  const IndexThreshold threshold{index_tolerance_.get(pair.name0, 0)};
  const PreparedPair prepared = prepare(pair, /*check_shapes=*/true);
  if (prepared.obstacle != Obstacle::kNone)
    return incomparable(CompareFunction::kIndices, prepared, threshold, observer);
  OutputComparison comparison{.function = CompareFunction::kIndices,
                              .pair = pair,
                              .result = {},
                              .mismatches = look_at(pair, threshold.places, options.fail_fast)};
  OutputResult& result = comparison.result;
  result.output = pair.name0;
  result.other = pair.name1;
  result.threshold = threshold;
  result.passed = comparison.mismatches.empty();
  observer.on_output_end(comparison);
  return result;
}

}  // namespace assay
