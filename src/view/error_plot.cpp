#include "view/error_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/python_repr.h"
#include "view/finite_range.h"

namespace assay {
namespace {

constexpr int kWidth = 1600, kHeight = 1200, kLeft = 170, kRight = 40, kTop = 130, kBetween = 40,
              kBottom = 110;
constexpr int kPanelWidth = kWidth - kLeft - kRight;
constexpr int kPanelHeight = (kHeight - kTop - kBetween - kBottom) / 2;
constexpr int kTextScale = 2, kDot = 3;
constexpr Color kGrid{220, 220, 220}, kDots{31, 87, 170};

/// A range of values along one axis and where its ticks are.
class Axis {
 public:
  /// From 0 to a round number above `greatest`.
  static Axis linear(double greatest) {
    Axis axis;
    const double step = round_step(greatest > 0 ? greatest / 10 : 0.1);
    for (int i = 0; i == 0 || (i - 1) * step < greatest; ++i) axis.ticks_.push_back(i * step);
    axis.high_ = axis.ticks_.back();
    return axis;
  }
  /// Whole powers of ten around [least, greatest]; at most some twenty ticks.
  static Axis logarithmic(double least, double greatest) {
    Axis axis;
    axis.logarithmic_ = true;
    axis.low_ = std::floor(std::log10(least));
    axis.high_ = std::max(std::ceil(std::log10(greatest)), axis.low_ + 1);
    const double step = std::max(1.0, std::ceil((axis.high_ - axis.low_) / 20));
    for (double e = axis.low_; e <= axis.high_; e += step) axis.ticks_.push_back(std::pow(10, e));
    return axis;
  }

  bool is_logarithmic() const { return logarithmic_; }
  const std::vector<double>& ticks() const { return ticks_; }
  /// 0 at the lower end, 1 at the upper.
  double place(double value) const {
    const double v = logarithmic_ ? (value > 0 ? std::log10(value) : low_) : value;
    // If all are equal, they are at the lower end.
    return high_ > low_ ? std::clamp((v - low_) / (high_ - low_), 0.0, 1.0) : 0;
  }

 private:
  /// 1, 2 or 5 times a power of ten, not below `least`.
  static double round_step(double least) {
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0})
      if (factor * power >= least) return factor * power;
    return 10 * power;
  }

  bool logarithmic_ = false;
  double low_ = 0, high_ = 1;
  std::vector<double> ticks_;
};

/// Number of elements per pixel of a panel.
class Panel {
 public:
  Panel() : counts_(static_cast<size_t>(kPanelWidth) * kPanelHeight) {}

  /// Positions from 0 to 1; NaN is skipped.
  void add(double x, double y) {
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return;
    const auto column = static_cast<size_t>(x * (kPanelWidth - 1)),
               row = static_cast<size_t>((1 - y) * (kPanelHeight - 1));
    ++counts_[row * kPanelWidth + column];
  }

  void draw(Image& image, int top) const {
    const double most = std::log1p(static_cast<double>(*std::max_element(counts_.begin(), counts_.end())));
    for (int pass = 0; pass < 2; ++pass)  // single elements first, so that crowds stay visible
      for (int row = 0; row < kPanelHeight; ++row)
        for (int column = 0; column < kPanelWidth; ++column) {
          const int64_t count = counts_[static_cast<size_t>(row) * kPanelWidth + static_cast<size_t>(column)];
          if (count == 0 || (count > 1) != (pass == 1)) continue;
          const double weight = 0.35 + 0.65 * std::log1p(static_cast<double>(count)) / most;
          image.fill(kLeft + column - kDot / 2, top + row - kDot / 2, kDot, kDot, blend(weight));
        }
  }

 private:
  static Color blend(double weight) {
    const auto mix = [&](uint8_t c) { return static_cast<uint8_t>(std::lround(255 + (c - 255) * weight)); };
    return {mix(kDots.red), mix(kDots.green), mix(kDots.blue)};
  }

  std::vector<int64_t> counts_;
};

void draw_frame(Image& image, int top, const Axis& x, const Axis& y, const std::string& label,
                bool labels_x) {
  for (const double tick : y.ticks()) {
    const int at = top + static_cast<int>((1 - y.place(tick)) * (kPanelHeight - 1));
    image.fill(kLeft, at, kPanelWidth, 1, kGrid);
    const std::string text = format_g(tick, 3);
    image.draw_text(kLeft - 12 - text_width(text, kTextScale), at - text_height(kTextScale) / 2, text,
                    kTextScale, kBlack);
  }
  for (const double tick : x.ticks()) {
    const int at = kLeft + static_cast<int>(x.place(tick) * (kPanelWidth - 1));
    image.fill(at, top, 1, kPanelHeight, kGrid);
    const std::string text = format_g(tick, 3);
    if (labels_x)
      image.draw_text(at - text_width(text, kTextScale) / 2, top + kPanelHeight + 12, text, kTextScale,
                      kBlack);
  }
  image.fill(kLeft, top, 1, kPanelHeight, kBlack);
  image.fill(kLeft, top + kPanelHeight - 1, kPanelWidth, 1, kBlack);
  const int length = text_width(label, kTextScale);
  image.draw_upward_text(20, top + (kPanelHeight + length) / 2, label, kTextScale, kBlack);
}

/// Reads the same block of several sequences together, as double.
template <typename Visit>
void for_each_point(const Numbers& absolute, const Numbers& relative, const Numbers& reference,
                    Visit&& visit) {
  std::array<double, Numbers::kBlock> a, r;
  for (int64_t b = 0; b < absolute.block_count(); ++b) {
    const int64_t first = b * Numbers::kBlock, n = absolute.block_size(b);
    for_each_number(absolute, first, n, [&](int64_t i, double v) { a[static_cast<size_t>(i)] = v; });
    for_each_number(relative, first, n, [&](int64_t i, double v) { r[static_cast<size_t>(i)] = v; });
    for_each_number(reference, first, n, [&](int64_t i, double v) {
      visit(a[static_cast<size_t>(i)], r[static_cast<size_t>(i)], std::fabs(v));
    });
  }
}

}  // namespace

Image error_plot(const std::array<std::string, 3>& title, const Numbers& absolute, const Numbers& relative,
                 const Numbers& reference) {
  const FiniteRange errors = finite_range(absolute), ratios = finite_range(relative),
                    sizes = finite_range(reference);
  const Axis x = Axis::linear(std::max(std::fabs(sizes.min), std::fabs(sizes.max)));
  const Axis y_absolute = Axis::linear(errors.max);
  const bool logarithmic = ratios.has_spread() && ratios.least_positive > 0;
  const Axis y_relative =
      logarithmic ? Axis::logarithmic(ratios.least_positive, ratios.max) : Axis::linear(ratios.max);

  Panel upper, lower;
  int64_t left_out = 0;
  for_each_point(absolute, relative, reference, [&](double error, double ratio, double size) {
    if (!std::isfinite(error) || !std::isfinite(size)) ++left_out;
    if (std::isfinite(error) && std::isfinite(size)) upper.add(x.place(size), y_absolute.place(error));
    if (std::isfinite(ratio) && std::isfinite(size)) lower.add(x.place(size), y_relative.place(ratio));
  });

  Image image(kWidth, kHeight);
  for (size_t line = 0; line < title.size(); ++line)
    image.draw_text(kLeft, 20 + static_cast<int>(line) * 26, title[line], kTextScale, kBlack);
  if (left_out > 0)
    image.draw_text(kLeft, 98, fmt::format("{} of {} elements are not finite", left_out, absolute.size()),
                    kTextScale, kBlack);
  const int lower_top = kTop + kPanelHeight + kBetween;
  draw_frame(image, kTop, x, y_absolute, "Absolute error", false);
  draw_frame(image, lower_top, x, y_relative, logarithmic ? "Relative error (log scale)" : "Relative error",
             true);
  upper.draw(image, kTop);
  lower.draw(image, lower_top);
  const std::string label = "output1 magnitude";
  image.draw_text(kLeft + (kPanelWidth - text_width(label, kTextScale)) / 2, kHeight - 50, label, kTextScale,
                  kBlack);
  return image;
}

}  // namespace assay
