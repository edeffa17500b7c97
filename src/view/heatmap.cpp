#include "view/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/python_repr.h"
#include "view/finite_range.h"
#include "view/svg.h"

namespace assay {
namespace {

constexpr int64_t kMaxHeight = 1080, kMaxWidth = 1920;  // elements drawn on a figure
constexpr int64_t kMaxRows = 14, kMaxColumns = 7, kMaxFigures = 4;
constexpr double kGridWidth = 1100, kGridHeight = 800, kGridTop = 40, kMargin = 16, kTitleSize = 9,
                 kBarWidth = 18, kGap = 6;

constexpr double kNothing = -INFINITY;  ///< where the last of several rows has no elements

/// A rectangle of values, row by row.
struct Plane {
  int64_t height, width;
  std::vector<double> values;
};

/// Reduces a plane to a drawable size: a long single row is broken into several, and groups of elements are
/// merged if they would not fit.
struct Reduction {
  int64_t row_length;    ///< elements of a row of the plane
  int64_t down, across;  ///< elements merged
  int64_t height, width;

  Reduction(int64_t plane_height, int64_t plane_width) {
    const bool breaks = plane_height == 1 && plane_width > kMaxWidth;
    row_length = breaks ? kMaxWidth : plane_width;
    const int64_t rows = breaks ? (plane_width + kMaxWidth - 1) / kMaxWidth : plane_height;
    down = (rows + kMaxHeight - 1) / kMaxHeight;
    across = (row_length + kMaxWidth - 1) / kMaxWidth;
    height = (rows + down - 1) / down;
    width = (row_length + across - 1) / across;
  }
};

/// The elements [first, first + count) of a plane; of merged elements the largest, with NaN above all.
Plane read_plane(const Numbers& numbers, int64_t first, int64_t count, const Reduction& r) {
  Plane plane{r.height, r.width, {}};
  plane.values.assign(static_cast<size_t>(r.height * r.width), kNothing);
  for_each_number(numbers, first, count, [&](int64_t i, double value) {
    const int64_t y = i / r.row_length / r.down, x = i % r.row_length / r.across;
    double& merged = plane.values[static_cast<size_t>(y * r.width + x)];
    if (std::isnan(value) || value > merged) merged = value;
  });
  return plane;
}

/// Colours of values.
struct Scale {
  double low, high;
  bool logarithmic;

  Color color(double value) const {
    if (std::isnan(value)) return kGrey;
    if (value == kNothing) return kWhite;
    if (std::isinf(value)) return kBlack;
    const double place = logarithmic ? (value > 0 ? std::log10(value) : low) : value;
    return plasma(high > low ? (place - low) / (high - low) : 0);
  }
  double value_at(double t) const {
    const double place = low + (high - low) * t;
    return logarithmic ? std::pow(10, place) : place;
  }
};

/// The plane in colours; every element `dots_x` x `dots_y` pixels, so that a viewer that smooths pictures
/// blurs little.
Image paint(const Plane& plane, const Scale& scale, int dots_x, int dots_y) {
  Image image(static_cast<int>(plane.width) * dots_x, static_cast<int>(plane.height) * dots_y);
  for (int64_t y = 0; y < plane.height; ++y)
    for (int64_t x = 0; x < plane.width; ++x)
      image.fill(static_cast<int>(x) * dots_x, static_cast<int>(y) * dots_y, dots_x, dots_y,
                 scale.color(plane.values[static_cast<size_t>(y * plane.width + x)]));
  return image;
}

void draw_color_bar(Svg& svg, double x, double y, double height, const Scale& scale) {
  constexpr int kSteps = 256, kTicks = 4;
  Image gradient(static_cast<int>(kBarWidth), kSteps);
  for (int i = 0; i < kSteps; ++i)
    gradient.fill(0, i, gradient.width(), 1, plasma(1 - i / double{kSteps - 1}));
  svg.image(x, y, kBarWidth, height, gradient, "");
  for (int i = 0; i <= (scale.low < scale.high ? kTicks : 0); ++i) {
    const double t = i / double{kTicks}, at = y + height * (1 - t);
    svg.line(x + kBarWidth, at, x + kBarWidth + 4, at);
    svg.text(x + kBarWidth + 7, at + 4, 11, Svg::Anchor::kStart, format_g(scale.value_at(t), 4));
  }
}

}  // namespace

HeatmapLayout HeatmapLayout::of(const Shape& shape) {
  HeatmapLayout layout;
  const size_t rank = shape.size();
  layout.width = rank >= 1 ? shape[rank - 1] : 1;
  layout.height = rank >= 2 ? shape[rank - 2] : 1;
  layout.planes = shape.numel() == 0 ? 0 : shape.numel() / (layout.height * layout.width);
  if (layout.planes == 0) return layout;
  const int64_t most_rows = std::max<int64_t>(1, kMaxHeight / layout.height);
  const int64_t most_columns = std::max<int64_t>(1, kMaxWidth / layout.width);
  layout.rows = std::min(most_rows, kMaxRows);
  layout.columns = std::min(most_columns, kMaxColumns);
  const bool fits = layout.height <= kMaxHeight && layout.width <= kMaxWidth;
  if (fits && layout.figures() > kMaxFigures) {
    const auto planes = static_cast<double>(layout.planes);
    const double aspect = 1.4 * static_cast<double>(layout.height) / static_cast<double>(layout.width);
    layout.columns = std::clamp<int64_t>(std::llround(std::sqrt(planes * aspect)), 1, most_columns);
    layout.rows = std::min((layout.planes + layout.columns - 1) / layout.columns, most_rows);
    if (layout.figures() > 1) layout.columns = most_columns;
  }
  if (layout.planes < layout.per_figure()) {
    layout.columns = std::min(layout.planes, layout.columns);
    layout.rows = (layout.planes + layout.columns - 1) / layout.columns;
  }
  return layout;
}

HeatmapFigures::HeatmapFigures(std::string name, const Numbers& numbers, bool log_scale)
    : name_(std::move(name)), numbers_(numbers), shape_(numbers.shape()), layout_(HeatmapLayout::of(shape_)) {
  while (shape_.size() < 3) shape_.insert_at(0, 1);
  const FiniteRange range = finite_range(numbers);
  low_ = range.min;
  high_ = range.max;
  log_scale_ = log_scale && range.has_spread() && range.least_positive > 0;
  if (!log_scale_) return;
  name_ += " (Log Scale)";
  low_ = std::log10(range.least_positive);
  high_ = std::log10(range.max);
}

std::string HeatmapFigures::position_text(int64_t plane) const {
  std::string text;
  for (size_t axis = shape_.size() - 2; axis-- > 0;) {
    text = fmt::format("{}{}{}", plane % shape_[axis], text.empty() ? "" : ",", text);
    plane /= shape_[axis];
  }
  return fmt::format("({},0:{},0:{})", text, layout_.height, layout_.width);
}

/// The layout of a figure's images.
struct HeatmapFigures::Geometry {
  bool separate;         ///< each image with its position above it; else all in a row
  int dots_x, dots_y;    ///< pixels of an element
  double width, height;  ///< of an image
  double title_height, cell_width, cell_height;
  double grid_width, grid_height;

  Geometry(const HeatmapLayout& layout, const Reduction& image) {
    const auto columns = static_cast<double>(layout.columns), rows = static_cast<double>(layout.rows);
    const auto across = static_cast<double>(image.width), down = static_cast<double>(image.height);
    double zoom = std::min({kGridWidth / (columns * across), kGridHeight / (rows * down), 48.0});
    if (zoom >= 1) zoom = std::floor(zoom);
    const double zoom_y = layout.rows == 1 ? std::max(zoom, std::ceil(24 / down)) : zoom;
    separate = layout.per_figure() <= kMaxRows * kMaxColumns;
    dots_x = std::max(1, static_cast<int>(zoom));
    dots_y = std::max(1, static_cast<int>(zoom_y));
    width = zoom * across;
    height = zoom_y * down;
    title_height = separate ? kTitleSize + 4 : 0;
    cell_width = separate ? std::max(width, 64.0) + kGap : width;
    cell_height = height + title_height + (separate ? kGap : 0);
    grid_width = std::max(cell_width * columns, 480.0);
    grid_height = std::max(cell_height * rows, 160.0);
  }
};

void HeatmapFigures::draw_separately(Svg& svg, const Geometry& g, int64_t first, int64_t last) const {
  const Reduction reduction(layout_.height, layout_.width);
  const int64_t elements = layout_.height * layout_.width;
  for (int64_t i = first; i < last; ++i) {
    const double x = kMargin + g.cell_width * static_cast<double>((i - first) % layout_.columns);
    const double y = kGridTop + g.cell_height * static_cast<double>((i - first) / layout_.columns);
    const Plane plane = read_plane(numbers_, i * elements, elements, reduction);
    const std::string position = position_text(i);
    svg.text(x, y + kTitleSize, kTitleSize, Svg::Anchor::kStart, position);
    svg.image(x, y + g.title_height, g.width, g.height,
              paint(plane, {low_, high_, log_scale_}, g.dots_x, g.dots_y), position);
  }
}

void HeatmapFigures::draw_mosaic(Svg& svg, const Geometry& g, int64_t first, int64_t last,
                                 const std::string& title) const {
  const int64_t height = layout_.height, width = layout_.width, elements = height * width;
  const Scale scale{low_, high_, log_scale_};
  Image mosaic(static_cast<int>(layout_.columns * width) * g.dots_x,
               static_cast<int>(layout_.rows * height) * g.dots_y);
  for_each_number(numbers_, first * elements, (last - first) * elements, [&](int64_t i, double value) {
    const int64_t plane = i / elements, inside = i % elements;
    const auto x = static_cast<int>(plane % layout_.columns * width + inside % width);
    const auto y = static_cast<int>(plane / layout_.columns * height + inside / width);
    mosaic.fill(x * g.dots_x, y * g.dots_y, g.dots_x, g.dots_y, scale.color(value));
  });
  svg.image(kMargin, kGridTop, g.cell_width * static_cast<double>(layout_.columns),
            g.cell_height * static_cast<double>(layout_.rows), mosaic, title);
}

HeatmapFigure HeatmapFigures::draw(int64_t index) const {
  const int64_t first = index * layout_.per_figure(),
                last = std::min(first + layout_.per_figure(), layout_.planes);
  const std::string title = fmt::format("{}: {} to {}", name_, position_text(first), position_text(last - 1));
  const Geometry g(layout_, Reduction(layout_.height, layout_.width));
  Svg svg(g.grid_width + 2 * kMargin + kBarWidth + 90, kGridTop + g.grid_height + kMargin);
  svg.text(kMargin, 24, 14, Svg::Anchor::kStart, title);
  if (g.separate) {
    draw_separately(svg, g, first, last);
  } else {
    draw_mosaic(svg, g, first, last, title);
  }
  draw_color_bar(svg, kMargin + g.grid_width + 10, kGridTop, g.grid_height * 0.9, {low_, high_, log_scale_});
  return {title, svg.finish()};
}

}  // namespace assay
