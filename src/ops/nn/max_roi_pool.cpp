// MaxRoiPool: the largest element of each cell of a grid over each region; regions are [image, x1, y1, x2,
// y2], scaled and rounded to whole elements, both ends included. A cell without elements gives 0.
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/op_list.h"

namespace assay::op_onnx_MaxRoiPool {
namespace {

std::vector<int64_t> read_grid(const OpContext& c) {
  const std::vector<int64_t> grid = c.attr_ints("pooled_shape");
  c.check(grid.size() == 2 && grid[0] >= 1 && grid[1] >= 1,
          "attribute 'pooled_shape' must be two positive numbers");
  return grid;
}

void infer(InferContext& c) {
  const std::vector<int64_t> grid = read_grid(c);
  const Dims *x = c.input_dims(0), *rois = c.input_dims(1);
  c.check(x == nullptr || x->size() == 4, "the input has {} dimensions where 4 are needed",
          x ? x->size() : 0);
  c.check(rois == nullptr || (rois->size() == 2 && (!(*rois)[1].is_known() || (*rois)[1].value() == 5)),
          "the regions have shape {} where (regions, 5) is needed", rois ? dims_str(*rois) : "");
  c.set_output(0, c.input_dtype(0),
               {rois ? (*rois)[0] : Dim(), x ? (*x)[1] : Dim(), Dim(grid[0]), Dim(grid[1])});
}

/// Cell i of `cells` over [first, last], within the image.
struct Span {
  int64_t first, last;
};
Span cell(double first, double last, int64_t i, int64_t cells, int64_t extent) {
  const double size = std::max(last - first + 1, 1.0) / static_cast<double>(cells);
  const auto within = [&](double v) {
    return static_cast<int64_t>(std::clamp(v, 0.0, static_cast<double>(extent)));
  };
  return {within(std::floor(static_cast<double>(i) * size) + first),
          within(std::ceil(static_cast<double>(i + 1) * size) + first)};
}

double largest(const double* plane, int64_t width, Span rows, Span columns) {
  if (rows.first >= rows.last || columns.first >= columns.last) return 0;
  double found = plane[rows.first * width + columns.first];
  for (int64_t y = rows.first; y < rows.last; ++y)
    for (int64_t x = columns.first; x < columns.last; ++x)
      if (plane[y * width + x] > found || std::isnan(plane[y * width + x])) found = plane[y * width + x];
  return found;
}

void eval(EvalContext& c) {
  const std::vector<int64_t> grid = read_grid(c);
  const Shape &in = c.shape(0), &rois = c.shape(1);
  c.check(in.size() == 4 && rois.size() == 2 && rois[1] == 5,
          "the input has shape {} and the regions {} where 4 dimensions and (regions, 5) are needed",
          in.str(), rois.str());
  const double scale = c.attr_float("spatial_scale");
  Tensor y = Tensor::allocate(DType::kFloat64, {rois[0], in[1], grid[0], grid[1]});
  const double *px = c.input(0).data<double>(), *pr = c.input(1).data<double>();
  double* py = y.mutable_data<double>();
  for (int64_t r = 0; r < rois[0]; ++r, pr += 5) {
    c.check(pr[0] >= 0 && pr[0] < static_cast<double>(in[0]), "region {} is in image {} of {}", r, pr[0],
            in[0]);
    double corner[4];
    for (int i = 0; i < 4; ++i) {
      corner[i] = std::round(pr[i + 1] * scale);
      c.check(std::isfinite(corner[i]), "region {} has a corner at {}", r, corner[i]);
    }
    for (int64_t channel = 0; channel < in[1]; ++channel) {
      const double* plane = px + (static_cast<int64_t>(pr[0]) * in[1] + channel) * in[2] * in[3];
      for (int64_t h = 0; h < grid[0]; ++h)
        for (int64_t w = 0; w < grid[1]; ++w)
          *py++ = largest(plane, in[3], cell(corner[1], corner[3], h, grid[0], in[2]),
                          cell(corner[0], corner[2], w, grid[1], in[3]));
    }
  }
  c.set_output(0, std::move(y));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
in  rois: T
out Y: T
attr spatial_scale: float = 1
attr pooled_shape: ints required
type T: @float)",
     infer, eval},
    {22, R"(
in  X: T
in  rois: T
out Y: T
attr spatial_scale: float = 1
attr pooled_shape: ints required
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "MaxRoiPool",
    .versions = kVersions,
    .facts =
        {
            .compares = {{{.reach = ComparisonFact::Reach::kAll}}},
        },
};

}  // namespace assay::op_onnx_MaxRoiPool
