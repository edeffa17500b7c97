#include "compare/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/log.h"
#include "base/parallel.h"
#include "base/python_repr.h"
#include "compare/pair_check.h"
#include "compare/report.h"
#include "tensor/numbers.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sums over all elements of a and b.
struct Products {
  double aa = 0, bb = 0, ab = 0;
  double noise = 0;              ///< sum of (a - b)^2
  double greatest = -kInfinity;  ///< element of a; NaN is passed over

  void add(const Products& other) {
    aa += other.aa;
    bb += other.bb;
    ab += other.ab;
    noise += other.noise;
    greatest = std::max(greatest, other.greatest);
  }
};

template <typename A, typename B>
Products products_of_block(const A* a, const B* b, int64_t n) {
  double aa = 0, bb = 0, ab = 0, noise = 0, greatest = -kInfinity;
#pragma omp simd reduction(+ : aa, bb, ab, noise) reduction(max : greatest)
  for (int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    aa += x * x;
    bb += y * y;
    ab += x * y;
    noise += (x - y) * (x - y);
    greatest = x > greatest ? x : greatest;
  }
  return {aa, bb, ab, noise, greatest};
}

Products products(const Tensor& a, const Tensor& b) {
  require(a.shape() == b.shape(), ErrorCode::kInvalidArgument, "cannot compare tensors of shapes {} and {}",
          a.shape().str(), b.shape().str());
  const TensorNumbers numbers_a(a), numbers_b(b);
  Products total;
  std::mutex mutex;
  visit_kind(numbers_a.kind(), [&]<typename A>() {
    visit_kind(numbers_b.kind(), [&]<typename B>() {
      parallel_for(numbers_a.block_count(), Numbers::kGrain, [&](int64_t begin, int64_t end) {
        Numbers::Scratch room;
        Products mine;
        for_each_block<A>(numbers_a, begin, end, [&](const A* p, int64_t n, int64_t first) {
          mine.add(
              products_of_block(p, static_cast<const B*>(numbers_b.block(first / Numbers::kBlock, room)), n));
          return true;
        });
        const std::lock_guard lock(mutex);
        total.add(mine);
      });
    });
  });
  return total;
}

double cosine(const Products& p) {
  const double a = std::sqrt(p.aa), b = std::sqrt(p.bb);
  if (a == 0 && b == 0) return 1;
  if (a == 0 || b == 0) return 0;
  const double cosine = p.ab / (a * b);
  return std::isnan(cosine) ? cosine : std::clamp(cosine, -1.0, 1.0);
}

double psnr(const Products& p, int64_t count) {
  if (p.noise == 0) return kInfinity;
  const double peak = p.greatest > 0 ? p.greatest : 1.0;
  return 20 * std::log10(peak) - 10 * std::log10(p.noise / static_cast<double>(count));
}

double snr(const Products& p) {
  if (p.noise == 0) return kInfinity;
  return p.aa == 0 ? -kInfinity : 10 * std::log10(p.aa / p.noise);
}

std::string g5(double value) { return format_g(value, 5); }
const char* word(bool passed) { return passed ? "PASSED" : "FAILED"; }

/// The pair made ready: shapes equal and numbers; nothing, after logging why, when that cannot be.
std::optional<OutputPair> prepare(const OutputPair& pair, bool check_shapes) {
  log::extra_verbose("Note: Comparing {} vs. {}", pair.runner0, pair.runner1);
  std::optional<OutputPair> matched = with_equal_shapes(pair, check_shapes);
  if (!matched) return matched;
  log_whole_outputs(*matched);
  if (!check_numeric(*matched)) return std::nullopt;
  return matched;
}

/// A signal-to-noise ratio and what it has to reach.
struct Ratio {
  const char* name;
  double value, minimum;
  bool passed() const { return value >= minimum; }
};

void log_verdict(const std::string& output, const std::vector<Ratio>& ratios) {
  std::string names;
  bool passed = true;
  for (const Ratio& r : ratios) {
    names.append(names.empty() ? "" : ", ").append(r.name);
    passed &= r.passed();
    if (!r.passed())
      log::error("FAILED | Output: '{}' | {} ({} dB) below required minimum ({} dB)", output, r.name,
                 g5(r.value), g5(r.minimum));
  }
  if (ratios.empty()) {
    log::warning("PASSED | Output: '{}' | No quality metrics were successfully computed", output);
  } else if (passed) {
    log::finish("PASSED | Output: '{}' | All quality metrics passed: {}", output, names);
  }
}

void log_quality_tolerance(std::optional<double> psnr_minimum, std::optional<double> snr_minimum) {
  std::string text;
  if (psnr_minimum) text = "PSNR min=" + g5(*psnr_minimum) + " dB";
  if (snr_minimum) text.append(text.empty() ? "" : ", ").append("SNR min=" + g5(*snr_minimum) + " dB");
  if (text.empty()) {
    log::warning("No quality metrics enabled for comparison");
  } else {
    log::info("Quality Metrics Tolerance: [{}]", text);
  }
}

}  // namespace

double l2_distance(const Tensor& a, const Tensor& b) { return std::sqrt(products(a, b).noise); }
double cosine_similarity(const Tensor& a, const Tensor& b) { return cosine(products(a, b)); }
double peak_signal_to_noise(const Tensor& a, const Tensor& b) { return psnr(products(a, b), a.numel()); }
double signal_to_noise(const Tensor& a, const Tensor& b) { return snr(products(a, b)); }

void DistanceComparison::begin(const OutputSource& source0, const OutputSource& source1) const {
  warn_about_extra_names("l2_tolerance", options_.l2_tolerance, source0, source1);
  warn_about_extra_names("cosine_similarity_threshold", options_.cosine_similarity_threshold, source0,
                         source1);
  announce_shape_check(options_.check_shapes);
}

OutputVerdict DistanceComparison::compare(const OutputPair& pair) const {
  const double tolerance = options_.l2_tolerance.get(pair.name0, 1e-5);
  const double threshold = options_.cosine_similarity_threshold.get(pair.name0, 0.997);
  log::info("Tolerance: [L2={}, Cosine Similarity min={}]", g5(tolerance), g5(threshold));
  const std::optional<OutputPair> matched = prepare(pair, options_.check_shapes);
  if (!matched) return {pair.name0, false, {}};

  const Products p = products(matched->output0, matched->output1);
  DistanceMetricsResult result{.l2_norm = std::sqrt(p.noise), .cosine_similarity = cosine(p)};
  const bool near = result.l2_norm <= tolerance, aligned = result.cosine_similarity >= threshold;
  result.passed = near && aligned;
  PairReport(*matched).log_arrays(!result.passed);
  log::info("Distance Metrics: {}", pair.name0);
  {
    const log::Indent indent;
    log::info("L2 Norm: {} (tolerance: {}) | {}", g5(result.l2_norm), g5(tolerance), word(near));
    log::info("Cosine Similarity: {} (threshold: {}) | {}", g5(result.cosine_similarity), g5(threshold),
              word(aligned));
  }
  if (!near)
    log::error("FAILED | Output: '{}' | L2 Norm ({}) exceeds tolerance ({})", pair.name0, g5(result.l2_norm),
               g5(tolerance));
  if (!aligned)
    log::error("FAILED | Output: '{}' | Cosine Similarity ({}) below threshold ({})", pair.name0,
               g5(result.cosine_similarity), g5(threshold));
  if (result.passed)
    log::finish("PASSED | Output: '{}' | All metrics passed: L2 Norm, Cosine Similarity", pair.name0);
  return {pair.name0, result.passed, result};
}

void QualityComparison::begin(const OutputSource& source0, const OutputSource& source1) const {
  if (options_.psnr_tolerance)
    warn_about_extra_names("psnr_tolerance", *options_.psnr_tolerance, source0, source1);
  if (options_.snr_tolerance)
    warn_about_extra_names("snr_tolerance", *options_.snr_tolerance, source0, source1);
  announce_shape_check(options_.check_shapes);
}

OutputVerdict QualityComparison::compare(const OutputPair& pair) const {
  std::optional<double> psnr_minimum, snr_minimum;
  if (options_.psnr_tolerance) psnr_minimum = options_.psnr_tolerance->get(pair.name0, 30.0);
  if (options_.snr_tolerance) snr_minimum = options_.snr_tolerance->get(pair.name0, 20.0);
  log_quality_tolerance(psnr_minimum, snr_minimum);
  const std::optional<OutputPair> matched = prepare(pair, options_.check_shapes);
  if (!matched) return {pair.name0, false, {}};

  const Products p = products(matched->output0, matched->output1);
  QualityMetricsResult result{.passed = true};
  std::vector<Ratio> ratios;
  if (psnr_minimum) {
    result.psnr = psnr(p, matched->output0.numel());
    ratios.push_back({"PSNR", *result.psnr, *psnr_minimum});
  }
  if (snr_minimum) {
    result.snr = snr(p);
    ratios.push_back({"SNR", *result.snr, *snr_minimum});
  }
  for (const Ratio& r : ratios) result.passed &= r.passed();
  PairReport(*matched).log_arrays(!result.passed);
  log::info("Quality Metrics: {}", pair.name0);
  {
    const log::Indent indent;
    for (const Ratio& r : ratios)
      log::info("{}: {} dB (min required: {} dB) | {}", r.name, g5(r.value), g5(r.minimum), word(r.passed()));
  }
  log_verdict(pair.name0, ratios);
  return {pair.name0, result.passed, result};
}

}  // namespace assay
