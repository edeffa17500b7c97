#include "compare/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/parallel.h"
#include "compare/pair_check.h"
#include "tensor/numbers.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sums over all elements of a and b.
struct Products {
  double aa = 0, bb = 0, ab = 0;
  double noise = 0;              ///< sum of (a - b)^2
  double greatest = -kInfinity;  ///< element of a; NaN is skipped

  void add(const Products& other) {
    aa += other.aa;
    bb += other.bb;
    ab += other.ab;
    noise += other.noise;
    greatest = std::max(greatest, other.greatest);
  }
};

/// Two float32 numbers are subtracted in float32, as NumPy does, so that the metrics print with the same
/// digits.
inline double difference(float a, float b) { return a - b; }
/// Integers are subtracted exactly.
template <typename T>
double distance(T a, T b) {
  return static_cast<double>(a > b ? static_cast<uint64_t>(a) - static_cast<uint64_t>(b)
                                   : static_cast<uint64_t>(b) - static_cast<uint64_t>(a));
}
inline double difference(int64_t a, int64_t b) { return distance(a, b); }
inline double difference(uint64_t a, uint64_t b) { return distance(a, b); }
template <typename A, typename B>
double difference(A a, B b) {
  return static_cast<double>(a) - static_cast<double>(b);
}

template <typename A, typename B>
Products products_of_block(const A* a, const B* b, int64_t n) {
  double aa = 0, bb = 0, ab = 0, noise = 0, greatest = -kInfinity;
#pragma omp simd reduction(+ : aa, bb, ab, noise) reduction(max : greatest)
  for (int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    aa += x * x;
    bb += y * y;
    ab += x * y;
    const double d = difference(a[i], b[i]);
    noise += d * d;
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

/// The name of the option in messages.
const char* option_of(CompareFunction metric) {
  switch (metric) {
    case CompareFunction::kL2:
      return "l2_threshold";
    case CompareFunction::kCosineSimilarity:
      return "cosine_similarity_threshold";
    case CompareFunction::kPsnr:
      return "psnr_threshold";
    case CompareFunction::kSnr:
      return "snr_threshold";
    default:
      return "lpips_threshold";
  }
}

double value_of(CompareFunction metric, const Tensor& a, const Tensor& b) {
  switch (metric) {
    case CompareFunction::kL2:
      return l2_distance(a, b);
    case CompareFunction::kCosineSimilarity:
      return cosine_similarity(a, b);
    case CompareFunction::kPsnr:
      return peak_signal_to_noise(a, b);
    default:
      return signal_to_noise(a, b);
  }
}

}  // namespace

double l2_distance(const Tensor& a, const Tensor& b) { return std::sqrt(products(a, b).noise); }
double cosine_similarity(const Tensor& a, const Tensor& b) { return cosine(products(a, b)); }
double peak_signal_to_noise(const Tensor& a, const Tensor& b) { return psnr(products(a, b), a.numel()); }
double signal_to_noise(const Tensor& a, const Tensor& b) { return snr(products(a, b)); }

double default_threshold(CompareFunction metric) {
  switch (metric) {
    case CompareFunction::kCosineSimilarity:
      return 0.997;
    case CompareFunction::kPsnr:
      return 30;
    case CompareFunction::kSnr:
      return 20;
    case CompareFunction::kLpips:
      return 0.1;
    default:
      return 1e-5;
  }
}

MetricComparison::MetricComparison(CompareFunction metric, MetricOptions options)
    : metric_(metric), options_(std::move(options)) {
  require(metric == CompareFunction::kL2 || metric == CompareFunction::kCosineSimilarity ||
              metric == CompareFunction::kPsnr || metric == CompareFunction::kSnr ||
              (metric == CompareFunction::kLpips && options_.measure != nullptr),
          ErrorCode::kInvalidArgument, "{} is not a metric that this build computes",
          compare_function_label(metric));
}

Threshold MetricComparison::threshold_for(const std::string& output) const {
  return MetricThreshold{options_.threshold.get(output, default_threshold(metric_))};
}

std::variant<double, std::string> MetricComparison::measure(const Tensor& a, const Tensor& b) const {
  if (options_.measure != nullptr) return options_.measure->measure(a, b);
  return value_of(metric_, a, b);
}

void MetricComparison::begin(const OutputSource& source0, const OutputSource& source1,
                             CompareObserver& observer) const {
  check_output_names(option_of(metric_), options_.threshold, source0, source1, observer);
  if (!options_.check_shapes) observer.on_shapes_unchecked();
}

OutputResult MetricComparison::compare_pair(const OutputPair& pair, PairCache&, const CompareOptions&,
                                            CompareObserver& observer) const {
  const Threshold threshold = threshold_for(pair.name0);
  const PreparedPair prepared = prepare(pair, options_.check_shapes);
  if (prepared.obstacle != Obstacle::kNone) return incomparable(metric_, prepared, threshold, observer);
  OutputComparison comparison{
      .function = metric_, .pair = prepared.pair, .result = {}, .shape_steps = prepared.steps};
  OutputResult& result = comparison.result;
  result.output = pair.name0;
  result.other = pair.name1;
  result.threshold = threshold;
  const std::variant<double, std::string> value = measure(prepared.pair.output0, prepared.pair.output1);
  if (const auto* number = std::get_if<double>(&value)) {
    result.metrics = *number;
  } else {
    result.obstacle = Obstacle::kMetric;
    comparison.note = std::get<std::string>(value);
  }
  result.passed = meets(metric_, result.metrics, threshold);
  observer.on_output_end(comparison);
  return result;
}

}  // namespace assay
