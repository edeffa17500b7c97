// RoiAlign: the mean (or maximum) of bilinearly interpolated points in each cell of a grid over each region
// [x1, y1, x2, y2]; nothing is rounded to whole elements. In mode max a point counts as the largest of its
// four weighted neighbours, as the specification's reference has it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/sample/roi_align.h"
#include "ops/eval_util.h"
#include "ops/nn/window.h"
#include "ops/op_list.h"
#include "ops/sums/sums.h"
#include "ops/work.h"

namespace assay::op_onnx_RoiAlign {
namespace {

/// Points along one axis of a cell beyond which a region is refused.
constexpr double kMaxPoints = 1 << 15;

struct Attributes {
  int64_t height, width, ratio;
  double scale;
  bool half_pixel, take_max;
};

Attributes read_attributes(const OpContext& c) {
  Attributes a{.height = c.attr_int("output_height"),
               .width = c.attr_int("output_width"),
               .ratio = c.attr_int("sampling_ratio"),
               .scale = c.attr_float("spatial_scale")};
  const std::string& mode = c.attr_string("mode");
  c.check(mode == "avg" || mode == "max", "mode '{}' is neither avg nor max", mode);
  a.take_max = mode == "max";
  if (knows_attr(c, "coordinate_transformation_mode")) {
    const std::string& shift = c.attr_string("coordinate_transformation_mode");
    c.check(shift == "half_pixel" || shift == "output_half_pixel",
            "coordinate_transformation_mode '{}' is neither half_pixel nor output_half_pixel", shift);
    a.half_pixel = shift == "half_pixel";
  }
  c.check(a.height >= 1 && a.width >= 1 && a.ratio >= 0,
          "output_height {}, output_width {} or sampling_ratio {} is out of range", a.height, a.width,
          a.ratio);
  return a;
}

void infer(InferContext& c) {
  const Attributes a = read_attributes(c);
  const Dims *x = c.input_dims(0), *rois = c.input_dims(1), *images = c.input_dims(2);
  c.check(x == nullptr || x->size() == 4, "the input has {} dimensions where 4 are needed",
          x ? x->size() : 0);
  c.check(rois == nullptr || (rois->size() == 2 && (!(*rois)[1].is_known() || (*rois)[1].value() == 4)),
          "the regions have shape {} where (regions, 4) is needed", rois ? dims_str(*rois) : "");
  c.check(images == nullptr || images->size() == 1, "batch_indices has {} dimensions where 1 is needed",
          images ? images->size() : 0);
  c.set_output(0, c.input_dtype(0),
               {rois ? (*rois)[0] : Dim(), x ? (*x)[1] : Dim(), Dim(a.height), Dim(a.width)});
}

/// The two neighbours of a coordinate and their weights; none outside [-1, extent].
struct Neighbours {
  bool inside;
  int64_t low, high;
  double low_weight, high_weight;
};
Neighbours neighbours(double at, int64_t extent) {
  if (!(at >= -1 && at <= static_cast<double>(extent))) return {};
  at = std::max(at, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(at), extent - 1);
  if (low == extent - 1) return {true, low, low, 1, 0};
  const double rest = at - static_cast<double>(low);
  return {true, low, low + 1, 1 - rest, rest};
}

/// The sampling points of one axis of a region: `points` in each cell.
struct Axis {
  std::vector<Neighbours> at;
  int64_t points;
};
Axis make_axis(const OpContext& c, double first, double last, int64_t cells, int64_t extent,
               const Attributes& a) {
  const double offset = a.half_pixel ? 0.5 : 0.0;
  const double start = first * a.scale - offset, end = last * a.scale - offset;
  const double length = a.half_pixel ? end - start : std::max(end - start, 1.0),
               size = length / static_cast<double>(cells);
  const double wanted = a.ratio > 0 ? static_cast<double>(a.ratio) : std::ceil(size);
  c.check(wanted <= kMaxPoints && std::isfinite(size), "a region from {} to {} is too large to sample", first,
          last);
  Axis axis{.at = {}, .points = std::max<int64_t>(0, static_cast<int64_t>(wanted))};
  for (int64_t cell = 0; cell < cells; ++cell)
    for (int64_t i = 0; i < axis.points; ++i)
      axis.at.push_back(
          neighbours(start + static_cast<double>(cell) * size +
                         (static_cast<double>(i) + 0.5) * size / static_cast<double>(axis.points),
                     extent));
  return axis;
}

/// The four neighbours of a cell's points that are in the image: their positions in a plane, and their
/// weights.
struct Cell {
  struct Point {
    int64_t at[4];
    double weight[4];
  };
  std::vector<Point> points;
  int64_t outside = 0;  ///< points that do not
  int64_t count() const { return std::max<int64_t>(1, static_cast<int64_t>(points.size()) + outside); }
};

void read_cell(Cell& cell, int64_t width, const Axis& rows, const Axis& columns, int64_t h, int64_t w) {
  cell.points.clear();
  cell.outside = 0;
  for (int64_t i = 0; i < rows.points; ++i)
    for (int64_t j = 0; j < columns.points; ++j) {
      const Neighbours& y = rows.at[static_cast<size_t>(h * rows.points + i)];
      const Neighbours& x = columns.at[static_cast<size_t>(w * columns.points + j)];
      if (!y.inside || !x.inside) {
        ++cell.outside;
        continue;
      }
      cell.points.push_back(
          {{y.low * width + x.low, y.low * width + x.high, y.high * width + x.low, y.high * width + x.high},
           {y.low_weight * x.low_weight, y.low_weight * x.high_weight, y.high_weight * x.low_weight,
            y.high_weight * x.high_weight}});
    }
}

/// One cell of one plane. With `magnitude`, every neighbour has its whole magnitude.
double pool_cell(const double* plane, const Cell& cell, bool take_max, bool magnitude) {
  double sum = 0, largest = cell.outside > 0 ? 0 : -std::numeric_limits<double>::infinity();
  for (const Cell::Point& p : cell.points) {
    double v[4];
    for (int k = 0; k < 4; ++k) v[k] = magnitude ? std::fabs(plane[p.at[k]]) : p.weight[k] * plane[p.at[k]];
    if (take_max) largest = std::max(largest, *std::max_element(v, v + 4));
    sum += v[0] + v[1] + v[2] + v[3];
  }
  if (take_max) return cell.points.empty() ? 0 : largest;
  return sum / static_cast<double>(cell.count());
}

void compute(EvalContext& c, bool magnitude) {
  const Attributes a = read_attributes(c);
  const Shape &in = c.shape(0), &rois = c.shape(1);
  c.check(in.size() == 4 && rois.size() == 2 && rois[1] == 4,
          "the input has shape {} and the regions {} where 4 dimensions and (regions, 4) are needed",
          in.str(), rois.str());
  c.check(c.shape(2) == Shape{rois[0]}, "batch_indices has shape {} for {} regions", c.shape(2).str(),
          rois[0]);
  Tensor y = Tensor::allocate(DType::kFloat64, {rois[0], in[1], a.height, a.width});
  const std::vector<int64_t> images = c.input(2).to_int64();
  const double *px = c.input(0).data<double>(), *pr = c.input(1).data<double>();
  double* py = y.mutable_data<double>();
  parallel_for(rois[0], 1, [&](int64_t first, int64_t last) {
    Cell cell;
    for (int64_t r = first; r < last; ++r) {
      const int64_t image = images[static_cast<size_t>(r)];
      c.check(image >= 0 && image < in[0], "region {} is in image {} of {}", r, image, in[0]);
      const Axis rows = make_axis(c, pr[r * 4 + 1], pr[r * 4 + 3], a.height, in[2], a);
      const Axis columns = make_axis(c, pr[r * 4], pr[r * 4 + 2], a.width, in[3], a);
      const int64_t cells = a.height * a.width;
      c.check(kernels::roi_points_fit(rows.points, columns.points, cells, in[2] * in[3]),
              "region {} is too large to sample: {} x {} points in each of {} cells", r, rows.points,
              columns.points, cells);
      double* to = py + r * in[1] * cells;
      for (int64_t i = 0; i < cells; ++i) {
        read_cell(cell, in[3], rows, columns, i / a.width, i % a.width);
        for (int64_t channel = 0; channel < in[1]; ++channel)
          to[channel * cells + i] =
              pool_cell(px + (image * in[1] + channel) * in[2] * in[3], cell, a.take_max, magnitude);
      }
    }
  });
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) { compute(c, false); }
void magnitude(EvalContext& c) { compute(c, true); }

/// A coordinate errs by a few u times its size, at most the image's extent, and so do the weights; the rest
/// is the sum over a cell's points.
int64_t terms(EvalContext& c) {
  const Attributes a = read_attributes(c);
  const Shape& in = c.shape(0);
  // Without regions the output may have any extents.
  const double cells = static_cast<double>(a.height) * static_cast<double>(a.width),
               ratio = static_cast<double>(a.ratio),
               points = a.ratio > 0 ? ratio * ratio
                                    : static_cast<double>(in[2]) * static_cast<double>(in[3]) / cells;
  return 4 * (in[2] + in[3]) + static_cast<int64_t>(std::min(points, 1e15)) + 16;
}

constexpr OpVersion kVersions[] = {
    {10, R"(
in  X: T1
in  rois: T1
in  batch_indices: T2
out Y: T1
attr mode: string = "avg"
attr output_height: int = 1
attr sampling_ratio: int = 0
attr output_width: int = 1
attr spatial_scale: float = 1
type T1: @float
type T2: int64)",
     infer, eval},
    {16, R"(
in  X: T1
in  rois: T1
in  batch_indices: T2
out Y: T1
attr coordinate_transformation_mode: string = "half_pixel"
attr mode: string = "avg"
attr output_height: int = 1
attr sampling_ratio: int = 0
attr output_width: int = 1
attr spatial_scale: float = 1
type T1: @float
type T2: int64)",
     infer, eval},
    {22, R"(
in  X: T1
in  rois: T1
in  batch_indices: T2
out Y: T1
attr coordinate_transformation_mode: string = "half_pixel"
attr mode: string = "avg"
attr output_height: int = 1
attr sampling_ratio: int = 0
attr output_width: int = 1
attr spatial_scale: float = 1
type T1: @float_ir4
type T2: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "RoiAlign",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms, .magnitude = magnitude},
    .facts =
        {
            .compares =
                {{{.reach = ComparisonFact::Reach::kLargest, .first = 0, .count = 1},
                  {.reach = ComparisonFact::Reach::kAll, .first = 1, .count = 1, .infinities = true}}},
            .uses = {{{.kind = InputUse::Kind::kIndex, .input = 2}}},
            .extra_steps = sample_steps,
        },
};

}  // namespace assay::op_onnx_RoiAlign

namespace assay {

bool sums_of_roi_align(EvalContext& c, int64_t i, SummedElement& out) {
  using namespace op_onnx_RoiAlign;
  const Attributes a = read_attributes(c);
  if (a.take_max) return false;
  const Shape& in = c.shape(0);
  const int64_t cells = a.height * a.width, at = i % cells, channel = i / cells % in[1],
                r = i / cells / in[1];
  const double *regions = c.input(1).data<double>() + r * 4, *px = c.input(0).data<double>();
  Cell cell;
  read_cell(cell, in[3], make_axis(c, regions[1], regions[3], a.height, in[2], a),
            make_axis(c, regions[0], regions[2], a.width, in[3], a), at / a.width, at % a.width);
  const double* plane =
      px + (c.input(2).to_int64()[static_cast<size_t>(r)] * in[1] + channel) * in[2] * in[3];
  Addends points;
  for (const Cell::Point& p : cell.points)
    for (int k = 0; k < 4; ++k) points.terms.push_back(p.weight[k] * plane[p.at[k]]);
  set_sum_of_products(std::move(points), 1 / static_cast<double>(cell.count()), 0, out);
  return true;
}

}  // namespace assay
