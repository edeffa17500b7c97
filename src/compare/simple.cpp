#include "compare/simple.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/log.h"
#include "compare/pair_check.h"
#include "compare/report.h"
#include "tensor/half.h"
#include "tensor/print.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 5> kStatNames = {"max", "mean", "median", "elemwise", "quantile"};

/// The tolerances and the statistic for one output.
struct Criteria {
  double atol, rtol;
  ErrorStat stat;
  double quantile;

  std::optional<double> wanted_quantile() const {
    return stat == ErrorStat::kQuantile ? std::optional(quantile) : std::nullopt;
  }
};

bool has_zero(const Numbers& numbers) {
  bool found = false;
  visit_kind(numbers.kind(), [&]<typename T>() {
    for_each_block<T>(numbers, 0, numbers.block_count(), [&](const T* p, int64_t n, int64_t) {
      found = std::find(p, p + n, T{0}) != p + n;
      return !found;
    });
  });
  return found;
}

/// The statistic that is held against the tolerance.
double checked(ErrorStat stat, const Statistics& errors) {
  switch (stat) {
    case ErrorStat::kMean:
      return errors.mean;
    case ErrorStat::kMedian:
      return errors.median;
    case ErrorStat::kQuantile:
      return errors.quantile;
    default:
      return errors.max;
  }
}

/// The elements at these row-major positions, in one dimension.
Tensor gather(const Tensor& tensor, const std::vector<int64_t>& positions) {
  const Tensor from = unpack(tensor);
  const auto bytes = storage_bytes(from.dtype(), 1);
  Tensor out = Tensor::allocate(from.dtype(), Shape{static_cast<int64_t>(positions.size())});
  auto* to = static_cast<std::byte*>(out.mutable_data());
  for (const int64_t position : positions) {
    std::memcpy(to, static_cast<const std::byte*>(from.data()) + bytes * static_cast<size_t>(position),
                bytes);
    to += bytes;
  }
  return out;
}

/// One row of coordinates per position.
Tensor coordinates(const Shape& shape, const std::vector<int64_t>& positions) {
  const std::vector<int64_t> strides = shape.strides();
  Tensor out = Tensor::allocate(DType::kInt64, Shape{static_cast<int64_t>(positions.size()), shape.rank()});
  int64_t* to = out.mutable_data<int64_t>();
  for (const int64_t position : positions)
    for (size_t axis = 0; axis < shape.size(); ++axis) *to++ = position / strides[axis] % shape[axis];
  return out;
}

/// Compares one pair of numeric outputs of equal shape.
class PairComparison {
 public:
  PairComparison(const OutputPair& pair, const SimpleOptions& options, const Criteria& criteria)
      : pair_(pair),
        options_(options),
        criteria_(criteria),
        outputs_(pair),
        difference_(pair.output0, pair.output1, options.infinities_compare_equal, outputs_.identical()),
        absolute_(difference_.absolute_statistics(outputs_.statistics0(), criteria.wanted_quantile())),
        relative_(difference_.relative_statistics(outputs_.statistics0(), criteria.wanted_quantile())) {}

  OutputCompareResult run() {
    warn_about_zeros();
    const bool failed = is_mismatch();
    if (criteria_.stat == ErrorStat::kElemwise) log_mismatches(failed);
    outputs_.log_arrays(failed);
    log_errors(failed);
    return result(!failed);
  }

 private:
  void warn_about_zeros() const {
    if (!is_float(pair_.output1.dtype())) return;
    const Statistics& s = outputs_.statistics1();
    if (s.zero_count == 0 && !(s.has_nan() && has_zero(outputs_.numbers1()))) return;
    log::once(log::Severity::kWarning,
              "{} | Output: {}: Some values are 0. Will add a small epsilon quantity to these when computing "
              "relative "
              "difference. Note that this may cause some relative differences to be extremely high. ",
              name_column(pair_.runner1), pair_.name1);
  }

  /// The type in which NumPy holds the checked statistic of these errors.
  DType kind_of(const Numbers& errors) const {
    return criteria_.stat == ErrorStat::kMean ? DType::kFloat32 : errors.kind();
  }

  bool exceeds_both(double absolute, double relative) const {
    return exceeds(kind_of(difference_.absolute()), absolute, criteria_.atol) &&
           exceeds(kind_of(difference_.relative()), relative, criteria_.rtol);
  }

  bool is_mismatch() const {
    if (absolute_.count == 0) return false;
    if (!exceeds_both(checked(criteria_.stat, absolute_), checked(criteria_.stat, relative_))) return false;
    return criteria_.stat != ErrorStat::kElemwise ||
           any_mismatch(difference_, criteria_.atol, criteria_.rtol);
  }

  void log_mismatches(bool any) const {
    if (!log::enabled(log::Severity::kExtraVerbose)) return;
    const auto positions =
        any ? mismatches(difference_, criteria_.atol, criteria_.rtol) : std::vector<int64_t>();
    const log::Indent indent;
    if (log::enabled(log::Severity::kSuperVerbose))
      log::super_verbose("Mismatched indices:\n{}", array_str(coordinates(pair_.output0.shape(), positions)));
    log::extra_verbose("{} | Mismatched values:\n{}", name_column(pair_.runner0),
                       array_str(gather(pair_.output0, positions)));
    log::extra_verbose("{} | Mismatched values:\n{}", name_column(pair_.runner1),
                       array_str(gather(pair_.output1, positions)));
  }

  void log_required_tolerance() const {
    std::string text = fmt::format(
        "Minimum Required Tolerance: {} error | [abs={}] OR [rel={}]", error_stat_name(criteria_.stat),
        error_text(checked(criteria_.stat, absolute_), kind_of(difference_.absolute())),
        error_text(checked(criteria_.stat, relative_), kind_of(difference_.relative())));
    if (criteria_.stat == ErrorStat::kElemwise)
      text += " (requirements may be lower if both abs/rel tolerances are set)";
    if (criteria_.stat == ErrorStat::kQuantile)
      text += fmt::format(" (quantile={})", format_g(criteria_.quantile, 4));
    log::info("{}", text);
  }

  void log_difference(const char* kind, const Numbers& errors, const Statistics& statistics, bool is_bool,
                      bool failed) const {
    log_array({.label = fmt::format("{} Difference", kind),
               .numbers = errors,
               .statistics = statistics,
               .values = [&] { return is_bool ? convert_to_bool(errors) : materialize(errors); },
               .is_bool = is_bool},
              failed);
    if (!options_.pictures) return;
    const log::Indent indent;
    options_.pictures->draw_heatmap(fmt::format("{} Error | {}", kind, pair_.name0), errors, statistics,
                                    &errors == &difference_.relative());
  }

  static Tensor convert_to_bool(const Numbers& errors) {
    const Tensor numbers = materialize(errors);
    std::vector<bool> truth;
    for (const uint64_t x : numbers.span<uint64_t>()) truth.push_back(x != 0);
    return Tensor::vector(truth).reshaped(errors.shape());
  }

  void log_errors(bool failed) const {
    log::info("Error Metrics: {}", pair_.name0);
    const log::Indent indent;
    log_required_tolerance();
    if (options_.pictures) {
      const log::Indent deeper;
      options_.pictures->draw_errors(pair_, difference_, outputs_.numbers1(), absolute_, relative_);
    }
    log_difference("Absolute", difference_.absolute(), absolute_, difference_.is_bool(), failed);
    log_difference("Relative", difference_.relative(), relative_, false, failed);
  }

  OutputCompareResult result(bool passed) const {
    OutputCompareResult r;
    r.passed = passed;
    r.max_absdiff = absolute_.max;
    r.max_reldiff = relative_.max;
    r.mean_absdiff = absolute_.mean;
    r.mean_reldiff = relative_.mean;
    r.median_absdiff = absolute_.median;
    r.median_reldiff = relative_.median;
    if (criteria_.stat == ErrorStat::kQuantile) {
      r.quantile_absdiff = absolute_.quantile;
      r.quantile_reldiff = relative_.quantile;
    }
    r.required_atol = checked(criteria_.stat, absolute_);
    r.required_rtol = checked(criteria_.stat, relative_);
    return r;
  }

  const OutputPair& pair_;
  const SimpleOptions& options_;
  const Criteria criteria_;
  const PairReport outputs_;
  const Difference difference_;
  const Statistics absolute_, relative_;
};

bool has_strings(const OutputPair& pair) {
  return pair.output0.dtype() == DType::kString && pair.output1.dtype() == DType::kString;
}

OutputVerdict compare_strings(const OutputPair& pair) {
  const auto a = pair.output0.span<std::string>(), b = pair.output1.span<std::string>();
  int64_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
  if (different == 0) {
    log::finish("PASSED | Output: '{}' | All {} strings are equal", pair.name0, a.size());
  } else {
    log::error("FAILED | Output: '{}' | {} of {} strings differ", pair.name0, different, a.size());
  }
  return {pair.name0, different == 0, {}};
}

}  // namespace

std::string_view error_stat_name(ErrorStat stat) { return kStatNames[static_cast<size_t>(stat)]; }

std::optional<ErrorStat> error_stat_from_name(std::string_view name) {
  for (size_t i = 0; i < kStatNames.size(); ++i)
    if (kStatNames[i] == name) return static_cast<ErrorStat>(i);
  return std::nullopt;
}

void SimpleComparison::begin(const OutputSource& source0, const OutputSource& source1) const {
  warn_about_extra_names("rtol", options_.rtol, source0, source1);
  warn_about_extra_names("atol", options_.atol, source0, source1);
  warn_about_extra_names("check_error_stat", options_.check_error_stat, source0, source1);
  warn_about_extra_names("quantile", options_.error_quantile, source0, source1);
  announce_shape_check(options_.check_shapes);
}

OutputVerdict SimpleComparison::compare(const OutputPair& pair) const {
  const Tolerance atol = options_.atol.get(pair.name0, 1e-5), rtol = options_.rtol.get(pair.name0, 1e-5);
  const ErrorStat stat = options_.check_error_stat.get(pair.name0, ErrorStat::kElemwise);
  log::info("Tolerance: [abs={}, rel={}] | Checking {} error", format_g(atol.value, 5),
            format_g(rtol.value, 5), error_stat_name(stat));
  log::extra_verbose("Note: Comparing {} vs. {}", pair.runner0, pair.runner1);
  const std::optional<OutputPair> matched = with_equal_shapes(pair, options_.check_shapes);
  if (!matched) return {pair.name0, false, {}};
  log_whole_outputs(*matched);
  if (has_strings(*matched)) return compare_strings(*matched);
  if (!check_numeric(*matched)) return {pair.name0, false, {}};

  const double quantile = options_.error_quantile.get(pair.name0, 0.99);
  const OutputCompareResult result =
      PairComparison(*matched, options_, {atol.value, rtol.value, stat, quantile}).run();
  log::extra_verbose("Finished comparing: '{}' {} [{}] and '{}' {} [{}]", pair.name0,
                     type_text(matched->output0), pair.runner0, pair.name1, type_text(matched->output1),
                     pair.runner1);
  if (result.passed) {
    log::finish("PASSED | Output: '{}' | Difference is within tolerance (rel={}, abs={})", pair.name0,
                rtol.str(), atol.str());
  } else {
    log::error("FAILED | Output: '{}' | Difference exceeds tolerance (rel={}, abs={})", pair.name0,
               rtol.str(), atol.str());
  }
  return {pair.name0, result.passed, result};
}

}  // namespace assay
