#include "eval/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "assay/error.h"
#include "tensor/convert.h"

namespace assay::eval {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor numbers_of(const Tensor& t) {
  require(!t.is_container() && t.dtype() != DType::kString && !is_complex(t.dtype()),
          ErrorCode::kInvalidArgument, "an output of type {} has no numbers to measure",
          dtype_name(t.dtype()));
  return to_float64(t);
}

void require_same_shape(const Measured& m) {
  require(m.output.shape() == m.golden->shape(), ErrorCode::kInvalidArgument,
          "it has the shape {}, and the golden one {}", m.output.shape().str(), m.golden->shape().str());
}

/// The scores of classes: rows over the last axis. Integers are classes themselves, one a row.
struct Rows {
  explicit Rows(const Tensor& t) : are_classes(is_integer(t.dtype()) || t.dtype() == DType::kBool) {
    numbers = numbers_of(t);
    width = are_classes ? 1 : t.rank() == 0 ? 1 : t.shape().back();
    count = width == 0 ? 0 : t.numel() / width;
  }
  std::span<const double> row(int64_t i) const {
    return numbers.span<double>().subspan(static_cast<size_t>(i * width), static_cast<size_t>(width));
  }
  /// The class with the highest score, the first of equal ones; -1 where a score is NaN.
  int64_t best(int64_t i) const {
    const auto scores = row(i);
    if (are_classes) return static_cast<int64_t>(scores[0]);
    if (std::any_of(scores.begin(), scores.end(), [](double v) { return std::isnan(v); })) return -1;
    return std::max_element(scores.begin(), scores.end()) - scores.begin();
  }

  bool are_classes;
  Tensor numbers;
  int64_t width = 0, count = 0;
};

/// Rows that there are labels for. Throws Error for labels that no output of this shape can have.
Rows labelled_rows(const Measured& m) {
  Rows rows(m.output);
  require(static_cast<int64_t>(m.labels.size()) <= rows.count, ErrorCode::kInvalidArgument,
          "there are {} labels for an output of shape {}, which has {} row(s)", m.labels.size(),
          m.output.shape().str(), rows.count);
  if (rows.are_classes) return rows;
  for (const int64_t label : m.labels)
    require(label >= 0 && label < rows.width, ErrorCode::kInvalidArgument,
            "the label {} is none of the {} classes of an output of shape {}", label, rows.width,
            m.output.shape().str());
  return rows;
}

/// Whether the label is among the k highest scores; of equal scores the first class counts.
double top_k(std::span<const double> scores, int64_t label, int64_t k) {
  const double own = scores[static_cast<size_t>(label)];
  int64_t before = 0;
  for (size_t j = 0; j < scores.size(); ++j) {
    if (std::isnan(scores[j])) return kNaN;
    if (scores[j] > own || (scores[j] == own && j < static_cast<size_t>(label))) ++before;
  }
  return before < k ? 1 : 0;
}

void measure_top(const Measured& m, int64_t k, std::vector<double>& observations) {
  const Rows rows = labelled_rows(m);
  for (size_t i = 0; i < m.labels.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    if (rows.are_classes)
      observations.push_back(rows.best(row) == m.labels[i] ? 1 : 0);
    else
      observations.push_back(top_k(rows.row(row), m.labels[i], k));
  }
}

void measure_perplexity(const Measured& m, int64_t /*k*/, std::vector<double>& observations) {
  const Rows rows = labelled_rows(m);
  require(!rows.are_classes, ErrorCode::kInvalidArgument, "an output of type {} has no logits",
          dtype_name(m.output.dtype()));
  for (size_t i = 0; i < m.labels.size(); ++i) {
    const auto logits = rows.row(static_cast<int64_t>(i));
    const double highest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const double v : logits) sum += std::exp(v - highest);
    observations.push_back(highest + std::log(sum) - logits[static_cast<size_t>(m.labels[i])]);
  }
}

void measure_agreement(const Measured& m, int64_t /*k*/, std::vector<double>& observations) {
  require_same_shape(m);
  const Rows rows(m.output), golden(*m.golden);
  for (int64_t i = 0; i < rows.count; ++i) {
    const int64_t a = rows.best(i), b = golden.best(i);
    observations.push_back(a < 0 || b < 0 ? kNaN : a == b ? 1 : 0);
  }
}

void measure_first_difference(const Measured& m, int64_t /*k*/, std::vector<double>& observations) {
  require_same_shape(m);
  const Rows rows(m.output), golden(*m.golden);
  int64_t i = 0;
  while (i < rows.count && rows.best(i) == golden.best(i)) ++i;
  observations.push_back(i == rows.count ? kInfinity : static_cast<double>(i));
}

/// Sums over an output and the golden one.
struct Products {
  explicit Products(const Measured& m) {
    require_same_shape(m);
    const Tensor output = numbers_of(m.output), golden = numbers_of(*m.golden);
    const double *y = output.data<double>(), *g = golden.data<double>();
    count = output.numel();
    for (int64_t i = 0; i < count; ++i) {
      const double d = y[i] - g[i], distance = std::abs(d);
      yy += y[i] * y[i];
      gg += g[i] * g[i];
      yg += y[i] * g[i];
      noise += d * d;
      distances += distance;
      largest = distance > largest || std::isnan(distance) ? distance : largest;
      peak = g[i] > peak ? g[i] : peak;
    }
  }
  double yy = 0, gg = 0, yg = 0, noise = 0, distances = 0, largest = 0, peak = -kInfinity;
  int64_t count = 0;
};

void measure_sqnr(const Measured& m, int64_t /*k*/, std::vector<double>& observations) {
  const Products p(m);
  observations.push_back(p.noise == 0 ? kInfinity : 10 * std::log10(p.gg / p.noise));
}

void measure_psnr(const Measured& m, int64_t /*k*/, std::vector<double>& observations) {
  const Products p(m);
  const double peak = p.peak > 0 ? p.peak : 1;
  observations.push_back(
      p.noise == 0 ? kInfinity : 10 * std::log10(peak * peak / (p.noise / static_cast<double>(p.count))));
}

void measure_cosine(const Measured& m, int64_t /*k*/, std::vector<double>& observations) {
  const Products p(m);
  if (p.noise == 0 || (p.yy == 0 && p.gg == 0)) return observations.push_back(1);
  if (p.yy == 0 || p.gg == 0) return observations.push_back(0);
  const double cosine = p.yg / (std::sqrt(p.yy) * std::sqrt(p.gg));
  observations.push_back(std::isnan(cosine) ? cosine : std::clamp(cosine, -1.0, 1.0));
}

void measure_mean_error(const Measured& m, int64_t /*k*/, std::vector<double>& observations) {
  const Products p(m);
  observations.push_back(p.count == 0 ? 0 : p.distances / static_cast<double>(p.count));
}

void measure_max_error(const Measured& m, int64_t /*k*/, std::vector<double>& observations) {
  observations.push_back(Products(m).largest);
}

constexpr MetricDef kMetrics[] = {
    {"top", "the label is among the k highest scores (top1, top5, ...)", Kind::kProportion, Truth::kLabels,
     /*low_is_worse=*/true, /*perfect=*/1, measure_top},
    {"perplexity", "of the labels, or of the next tokens, by the logits", Kind::kPerplexity, Truth::kLabels,
     /*low_is_worse=*/false, /*perfect=*/0, measure_perplexity},
    {"agreement", "the class with the highest score is the golden one's", Kind::kProportion, Truth::kGolden,
     /*low_is_worse=*/true, /*perfect=*/1, measure_agreement},
    {"first-difference",
     "the first row, or token, whose class with the highest score is not the golden one's", Kind::kMean,
     Truth::kGolden, /*low_is_worse=*/true, /*perfect=*/kInfinity, measure_first_difference},
    {"sqnr", "signal to noise in decibels", Kind::kMean, Truth::kGolden,
     /*low_is_worse=*/true, /*perfect=*/kInfinity, measure_sqnr},
    {"psnr", "peak signal to noise in decibels", Kind::kMean, Truth::kGolden,
     /*low_is_worse=*/true, /*perfect=*/kInfinity, measure_psnr},
    {"cosine", "of the angle between the outputs", Kind::kMean, Truth::kGolden,
     /*low_is_worse=*/true, /*perfect=*/1, measure_cosine},
    {"mean-error", "the mean distance of elements", Kind::kMean, Truth::kGolden,
     /*low_is_worse=*/false, /*perfect=*/0, measure_mean_error},
    {"max-error", "the largest distance of elements", Kind::kMean, Truth::kGolden,
     /*low_is_worse=*/false, /*perfect=*/0, measure_max_error},
};

}  // namespace

std::span<const MetricDef> metric_defs() { return kMetrics; }

std::string metric_names() {
  std::string names;
  for (const MetricDef& def : kMetrics)
    names += (names.empty() ? "" : ", ") + (def.name == "top" ? "top1, top5" : std::string(def.name));
  return names;
}

Metric Metric::parse(std::string_view word) {
  Metric metric;
  const size_t colon = word.find(':');
  metric.name_ = word.substr(0, colon);
  if (colon != std::string_view::npos) metric.output_ = word.substr(colon + 1);
  std::string_view name = metric.name_;
  if (name.starts_with("top")) {
    const char *first = name.data() + 3, *end = name.data() + name.size();
    const auto read = std::from_chars(first, end, metric.k_);
    if (read.ec == std::errc() && read.ptr == end && metric.k_ > 0) name = "top";
  }
  for (const MetricDef& def : kMetrics)
    if (def.name == name && (def.name != "top" || metric.k_ > 0)) metric.def_ = &def;
  require(metric.def_ != nullptr, ErrorCode::kInvalidArgument, "'{}' is no metric; there are {}",
          metric.name_, metric_names());
  return metric;
}

void Metric::measure(const Measured& measured, std::vector<double>& observations) const {
  observations.clear();
  def_->measure(measured, k_, observations);
}

}  // namespace assay::eval
