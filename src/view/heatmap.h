// Heatmaps of tensors: each plane of the last two dimensions is an image.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/numbers.h"

namespace assay {

class Svg;

/// The layout of a tensor's planes on figures.
struct HeatmapLayout {
  int64_t planes = 0;             ///< images in all
  int64_t height = 0, width = 0;  ///< of a plane, in elements
  int64_t rows = 0, columns = 0;  ///< images on a figure

  int64_t per_figure() const { return rows * columns; }
  int64_t figures() const { return planes == 0 ? 0 : (planes + per_figure() - 1) / per_figure(); }

  /// At most 14 x 7 images and 1080 x 1920 elements on a figure, as in upstream. If that needs more than 4
  /// figures, as many images as fit in 1080 x 1920 elements, in a row.
  static HeatmapLayout of(const Shape& shape);
};

/// One figure: `title` is its file name without extension.
struct HeatmapFigure {
  std::string title;
  std::string svg;
};

/// Figures of non-negative numbers. Colours range from the smallest to the largest finite one; with
/// `log_scale`, and if they differ, on a logarithmic scale from the smallest positive one, whose colour zeros
/// have, too. NaN is grey, infinity black. A plane of more than 1080 x 1920 elements is drawn with the
/// largest of each group of elements, a single row of more than 1920 broken into several. `name`: `Absolute
/// Error | y`. The numbers must outlive the figures.
class HeatmapFigures {
 public:
  HeatmapFigures(std::string name, const Numbers& numbers, bool log_scale);
  int64_t count() const { return layout_.figures(); }
  /// The name, followed by ` (Log Scale)` for a logarithmic scale.
  const std::string& name() const { return name_; }
  /// Figure `index` of count().
  HeatmapFigure draw(int64_t index) const;

 private:
  struct Geometry;
  std::string position_text(int64_t plane) const;
  void draw_separately(Svg& svg, const Geometry& geometry, int64_t first, int64_t last) const;
  void draw_mosaic(Svg& svg, const Geometry& geometry, int64_t first, int64_t last,
                   const std::string& title) const;

  std::string name_;
  const Numbers& numbers_;
  Shape shape_;  ///< at least rank 3
  HeatmapLayout layout_;
  double low_ = 0, high_ = 0;  ///< of the colours; logarithms on a logarithmic scale
  bool log_scale_ = false;
};

}  // namespace assay
