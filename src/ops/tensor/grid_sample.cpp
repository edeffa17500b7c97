// GridSample: the image at a grid's positions, whose coordinates run from -1 to 1 along every axis.
#include <algorithm>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/elements.h"
#include "ops/tensor/grid_sampler.h"
#include "tensor/convert.h"

namespace assay::op_onnx_GridSample {
namespace {

void infer(InferContext& c) {
  const Dims *image = c.input_dims(0), *grid = c.input_dims(1);
  if (image == nullptr && grid == nullptr) return c.set_output(0, c.input_dtype(0));
  const size_t rank = image ? image->size() : grid->size();
  c.check(rank >= 3 && (image == nullptr || grid == nullptr || image->size() == grid->size()),
          "the image has rank {}, the grid has rank {}", rank, grid ? grid->size() : rank);
  Dims out(rank);
  if (image != nullptr) std::copy_n(image->begin(), 2, out.begin());
  if (grid != nullptr) {
    out[0] = merge_dim(out[0], (*grid)[0]);
    std::copy(grid->begin() + 1, grid->end() - 1, out.begin() + 2);
  }
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// Positions that are sampled together, so that each plane of the image is read for all of them.
constexpr int64_t kPlaces = 64;

/// Calls f(batch, point, samples) for up to kPlaces neighbouring places of one entry of the batch, in
/// parallel.
template <typename F>
void for_places(const GridSampler& sampler, const Tensor& grid, double u, F f) {
  const double* numbers = grid.data<double>();
  const int64_t points = sampler.points(), blocks = (points + kPlaces - 1) / kPlaces;
  parallel_for(sampler.output_shape()[0] * blocks, 1, [&](int64_t first, int64_t last) {
    std::vector<GridSample> samples(static_cast<size_t>(std::min(points, kPlaces)));
    GridSample spare;
    for (int64_t i = first; i < last; ++i) {
      const int64_t batch = i / blocks, point = i % blocks * kPlaces,
                    count = std::min(kPlaces, points - point);
      for (int64_t p = 0; p < count; ++p)
        sampler.sample(numbers + (batch * points + point + p) * static_cast<int64_t>(sampler.rank()), u,
                       samples[static_cast<size_t>(p)], spare);
      f(batch, point, std::span(samples.data(), static_cast<size_t>(count)));
    }
  });
}

/// Nearest elements, of any type.
Tensor pick(const GridSampler& sampler, const Tensor& image, const Tensor& grid) {
  Tensor y = checked_allocation(image.dtype(), sampler.output_shape());
  const int64_t channels = sampler.output_shape()[1], plane = sampler.plane(), points = sampler.points();
  visit_elements(image.dtype(), [&]<typename E>() {
    const E* from = elements<E>(image);
    E* to = mutable_elements<E>(y);
    for_places(sampler, grid, 0, [&](int64_t batch, int64_t point, std::span<const GridSample> samples) {
      for (int64_t k = batch * channels; k < (batch + 1) * channels; ++k)
        for (size_t p = 0; p < samples.size(); ++p)
          to[k * points + point + static_cast<int64_t>(p)] =
              samples[p].position.empty() ? E{} : from[k * plane + samples[p].position[0]];
    });
  });
  return y;
}

/// Weighted sums in float64.
Tensor mix(const GridSampler& sampler, const Tensor& image, const Tensor& grid) {
  Tensor y = checked_allocation(DType::kFloat64, sampler.output_shape());
  const int64_t channels = sampler.output_shape()[1], plane = sampler.plane(), points = sampler.points();
  const double* from = image.data<double>();
  double* to = y.mutable_data<double>();
  for_places(sampler, grid, 0, [&](int64_t batch, int64_t point, std::span<const GridSample> samples) {
    for (int64_t k = batch * channels; k < (batch + 1) * channels; ++k)
      for (size_t p = 0; p < samples.size(); ++p) {
        const GridSample& s = samples[p];
        double sum = 0;
        for (size_t i = 0; i < s.position.size(); ++i) sum += s.weight[i] * from[k * plane + s.position[i]];
        to[k * points + point + static_cast<int64_t>(p)] = sum;
      }
  });
  return y;
}

void eval(EvalContext& c) {
  const GridSampler sampler(c, c.shape(0), c.shape(1));
  if (sampler.interpolation() == Interpolation::kNearest)
    return c.set_output(0, pick(sampler, c.input(0), c.input(1)));
  const Tensor y = mix(sampler, to_float64(c.input(0)), c.input(1));
  c.set_output(0, is_float(c.input(0).dtype()) ? y : convert(y, c.input(0).dtype()));
}

/// Nearest: the distance to the elements that the coordinates may also select. Otherwise the weights' errors
/// on the elements' magnitudes, and the sum's own roundings.
Tensor bound(EvalContext& c, double u, size_t, const Tensor& y) {
  const GridSampler sampler(c, c.shape(0), c.shape(1));
  const Tensor image = to_float64(c.input(0)), exact = to_float64(y);
  Tensor out = Tensor::allocate(DType::kFloat64, y.shape());
  const int64_t channels = y.dim(1), plane = sampler.plane(), points = sampler.points();
  const double *from = image.data<double>(), *at = exact.data<double>();
  double* to = out.mutable_data<double>();
  const auto bound_at = [&](int64_t batch, int64_t point, const GridSample& s) {
    const double* const place =
        c.input(1).data<double>() + (batch * points + point) * static_cast<int64_t>(sampler.rank());
    const bool nearest = sampler.interpolation() == Interpolation::kNearest;
    const std::vector<int64_t> candidates =
        nearest ? sampler.nearest_candidates(place, u) : std::vector<int64_t>();
    const double sum_error = u * static_cast<double>(s.position.size() + sampler.rank());
    for (int64_t k = batch * channels; k < (batch + 1) * channels; ++k) {
      const int64_t i = k * points + point;
      to[i] = 0;
      for (const int64_t p : candidates)
        to[i] = std::max(to[i], std::abs((p < 0 ? 0 : from[k * plane + p]) - at[i]));
      if (nearest) continue;
      for (size_t t = 0; t < s.position.size(); ++t)
        to[i] += (s.weight_error[t] + sum_error * s.weight[t]) * std::abs(from[k * plane + s.position[t]]);
    }
  };
  for_places(sampler, c.input(1), u, [&](int64_t batch, int64_t point, std::span<const GridSample> samples) {
    for (const GridSample& s : samples) bound_at(batch, point++, s);
  });
  return out;
}

constexpr OpVersion kVersions[] = {
    {16, R"(
in  X: T1
in  grid: T2
out Y: T1
attr align_corners: int = 0
attr padding_mode: string = "zeros"
attr mode: string = "bilinear"
type T1: @all
type T2: @float)",
     infer, eval},
    {20, R"(
in  X: T1
in  grid: T2
out Y: T1
attr align_corners: int = 0
attr padding_mode: string = "zeros"
attr mode: string = "linear"
type T1: @all
type T2: @float)",
     infer, eval},
    {22, R"(
in  X: T1
in  grid: T2
out Y: T1
attr align_corners: int = 0
attr padding_mode: string = "zeros"
attr mode: string = "linear"
type T1: @all_ir4
type T2: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "GridSample",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kCustom, .bound = bound},
    .facts =
        {
            .compares =
                {{{.reach = ComparisonFact::Reach::kAll, .first = 1, .count = 1, .infinities = true}}},
        },
};

}  // namespace assay::op_onnx_GridSample
