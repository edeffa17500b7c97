// DeformConv: a convolution whose taps are moved by offsets that are inputs, read by linear interpolation
// (zeros outside the image), and weighted by a mask.
#include <cmath>

#include "kernels/gemm.h"
#include "ops/eval_util.h"
#include "ops/multiply_accumulates.h"
#include "ops/nn/conv_rules.h"
#include "ops/nn/window.h"
#include "ops/op_list.h"
#include "ops/sums/sums.h"

namespace assay::op_onnx_DeformConv {
namespace {

enum Input { kX, kW, kOffset, kBias, kMask };

void infer(InferContext& c) {
  infer_conv(c, c.input_dtype(kX), kX, kW);
  check_conv_bias(c, kW, kBias);
  const int64_t groups = c.attr_int("offset_group");
  c.check(groups >= 1, "attribute 'offset_group' is {}; it must be at least 1", groups);
}

/// One image with its offsets and mask, as the matrix that the weights multiply: row (channel, tap), column
/// output position.
class DeformedColumns final : public kernels::PanelSource {
 public:
  struct Parts {
    const kernels::Window& window;
    const double* image;           ///< all channels
    const double* offset;          ///< [offset groups, taps, rank, positions]
    const double* mask;            ///< [offset groups, taps, positions], or null
    int64_t first_channel;         ///< of the convolution's group
    int64_t channels_per_offsets;  ///< channels that share their offsets
    bool magnitude;                ///< neighbours with their whole magnitude instead of their weight
  };
  /// `channels`: of the convolution's group. Of all columns, or `count` from `first` on.
  DeformedColumns(const Parts& parts, int64_t channels, int64_t first_column, int64_t count)
      : p_(parts),
        strides_(Shape(parts.window.in).strides()),
        taps_(parts.window.taps()),
        positions_(parts.window.out_size()),
        first_column_(first_column),
        count_(count),
        corners_(size_t{1} << parts.window.rank()),
        first_group_(parts.first_channel / parts.channels_per_offsets) {
    const int64_t groups =
        (parts.first_channel + channels - 1) / parts.channels_per_offsets - first_group_ + 1;
    neighbours_.resize(static_cast<size_t>(groups * taps_ * count_) * corners_);
    parallel_for(groups * taps_, 1, [&](int64_t first, int64_t last) {
      std::vector<double> at(p_.window.rank());
      for (int64_t i = first; i < last; ++i)
        for (int64_t k = 0; k < count_; ++k)
          read_neighbours(i, first_column_ + k, at,
                          neighbours_.data() + static_cast<size_t>(i * count_ + k) * corners_);
    });
  }

  void pack(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t width,
            double* out) const override {
    for (int64_t first = 0; first < columns; first += width, out += rows * width) {
      const int64_t count = std::min(width, columns - first);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t j = 0; j < count; ++j) out[r * width + j] = element(row + r, column + first + j);
        std::fill(out + r * width + count, out + (r + 1) * width, 0.0);
      }
    }
  }

  /// The weighted sum of the 2^rank neighbours in
  /// the image; that of their magnitudes on request.
  double element(int64_t row, int64_t position) const {
    const int64_t channel = p_.first_channel + row / taps_;
    const int64_t place = (channel / p_.channels_per_offsets - first_group_) * taps_ + row % taps_;
    const double* const plane = p_.image + channel * p_.window.in_size();
    const Neighbour* n =
        neighbours_.data() + static_cast<size_t>(place * count_ + position - first_column_) * corners_;
    double sum = 0;
    for (size_t i = 0; i < corners_; ++i)
      if (n[i].weight != 0) sum += n[i].weight * (p_.magnitude ? std::fabs(plane[n[i].at]) : plane[n[i].at]);
    if (p_.mask == nullptr) return sum;
    const double mask = p_.mask[(place + first_group_ * taps_) * positions_ + position];
    return (p_.magnitude ? std::fabs(mask) : mask) * sum;
  }

 private:
  /// An element of a plane, and its weight. Those outside the image, or without weight, count nothing.
  struct Neighbour {
    int64_t at;
    double weight;
  };

  /// Of number `place` among the taps of the convolution's offset groups.
  void read_neighbours(int64_t place, int64_t position, std::vector<double>& at, Neighbour* out) const {
    const kernels::Window& w = p_.window;
    const int64_t tap = place % taps_, rank = static_cast<int64_t>(w.rank());
    place += first_group_ * taps_;
    const double* offsets = p_.offset + place * rank * positions_ + position;
    int64_t tap_rest = tap, position_rest = position;
    for (int64_t d = rank - 1; d >= 0; --d) {
      const auto i = static_cast<size_t>(d);
      const int64_t corner =
          position_rest % w.out[i] * w.strides[i] + tap_rest % w.kernel[i] * w.dilations[i] - w.begin[i];
      at[i] = static_cast<double>(corner) + offsets[d * positions_];
      tap_rest /= w.kernel[i];
      position_rest /= w.out[i];
    }
    for (size_t corner = 0; corner < corners_; ++corner) {
      double weight = 1;
      int64_t index = 0;
      for (size_t d = 0; d < at.size() && weight != 0; ++d) {
        const double low = std::floor(at[d]), rest = at[d] - low,
                     neighbour = low + static_cast<double>(corner >> d & 1);
        const bool inside = neighbour >= 0 && neighbour < static_cast<double>(w.in[d]);
        weight *= !inside ? 0.0 : (corner >> d & 1) != 0 ? rest : 1 - rest;
        if (inside) index += static_cast<int64_t>(neighbour) * strides_[d];
      }
      out[corner] = {index, weight != 0 && p_.magnitude ? 1.0 : weight};
    }
  }

  Parts p_;
  std::vector<int64_t> strides_;
  int64_t taps_, positions_, first_column_, count_;
  size_t corners_;
  int64_t first_group_;
  std::vector<Neighbour> neighbours_;  ///< [offset groups of the channels, taps, columns, corners]
};

/// Throws Error unless an input has `channels` channels of the output's extents.
void check_field(const EvalContext& c, size_t i, const char* name, const ConvPlan& plan, int64_t channels) {
  Shape wanted = plan.output;
  wanted[1] = channels;
  c.check(c.shape(i) == wanted, "{} has shape {} where {} is needed", name, c.shape(i).str(), wanted.str());
}

std::vector<double> absolute(const Tensor& t) {
  std::vector<double> out(t.span<double>().begin(), t.span<double>().end());
  for (double& x : out) x = std::fabs(x);
  return out;
}

/// One group of one image.
DeformedColumns::Parts parts_of(EvalContext& c, const ConvPlan& plan, int64_t image, int64_t group,
                                bool magnitude) {
  const kernels::Window& w = plan.window;
  const int64_t fields = c.attr_int("offset_group") * w.taps() * w.out_size(),
                channels = plan.size.in_channels;
  return {.window = w,
          .image = c.input(kX).data<double>() + image * channels * w.in_size(),
          .offset = c.input(kOffset).data<double>() + image * fields * static_cast<int64_t>(w.rank()),
          .mask = c.has_input(kMask) ? c.input(kMask).data<double>() + image * fields : nullptr,
          .first_channel = group * (channels / plan.size.groups),
          .channels_per_offsets = channels / c.attr_int("offset_group"),
          .magnitude = magnitude};
}

void compute(EvalContext& c, bool magnitude) {
  const ConvPlan plan = plan_conv(c, c.shape(kX), c.shape(kW));
  const kernels::Window& w = plan.window;
  const int64_t groups = c.attr_int("offset_group"), in_channels = plan.size.in_channels;
  c.check(groups >= 1 && in_channels % groups == 0, "{} offset groups do not divide {} channels", groups,
          in_channels);
  const int64_t taps = w.taps(), positions = w.out_size(), rank = static_cast<int64_t>(w.rank());
  check_field(c, kOffset, "offset", plan, groups * taps * rank);
  if (c.has_input(kMask)) check_field(c, kMask, "mask", plan, groups * taps);
  const double* bias = conv_bias(c, kBias, plan.size.out_channels);
  const int64_t channels = in_channels / plan.size.groups,
                kernels = plan.size.out_channels / plan.size.groups;
  const std::vector<double> weights = magnitude ? absolute(c.input(kW)) : std::vector<double>();
  const double* pw = magnitude ? weights.data() : c.input(kW).data<double>();
  Tensor y = Tensor::allocate(DType::kFloat64, plan.output);
  double* py = y.mutable_data<double>();
  for (int64_t i = 0; i < plan.size.batch * plan.size.groups; ++i) {
    const int64_t image = i / plan.size.groups, group = i % plan.size.groups;
    const DeformedColumns columns(parts_of(c, plan, image, group, magnitude), channels, 0, positions);
    const int64_t depth = channels * taps;
    double* to = py + i * kernels * positions;
    kernels::gemm(kernels, positions, depth, {pw + group * kernels * depth, depth, 1}, columns, to,
                  positions);
    for (int64_t o = 0; bias != nullptr && o < kernels; ++o) {
      const double add = magnitude ? std::fabs(bias[group * kernels + o]) : bias[group * kernels + o];
      for (int64_t j = 0; j < positions; ++j) to[o * positions + j] += add;
    }
  }
  c.set_output(0, std::move(y));
}

void eval(EvalContext& c) { compute(c, false); }
void magnitude(EvalContext& c) { compute(c, true); }

/// The products of a convolution, and the weights of the interpolation: they err by u times the coordinates,
/// at most about the image's extents.
int64_t terms(EvalContext& c) {
  int64_t extents = 0;
  for (size_t d = 2; d < c.shape(kX).size(); ++d) extents += c.shape(kX)[d];
  return c.shape(kW).numel(1, c.shape(kW).size()) + 2 * extents + 8;
}

constexpr OpVersion kVersions[] = {
    {19, R"(
in  X: T
in  W: T
in  offset: T
in  B: T ?
in  mask: T ?
out Y: T
attr strides: ints
attr pads: ints
attr offset_group: int = 1
attr kernel_shape: ints
attr group: int = 1
attr dilations: ints
type T: @float)",
     infer, eval},
    {22, R"(
in  X: T
in  W: T
in  offset: T
in  B: T ?
in  mask: T ?
out Y: T
attr strides: ints
attr pads: ints
attr offset_group: int = 1
attr kernel_shape: ints
attr group: int = 1
attr dilations: ints
type T: @float_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "DeformConv",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms, .magnitude = magnitude},
    .facts =
        {
            .multiply_accumulates = conv_macs,
        },
};

}  // namespace assay::op_onnx_DeformConv

namespace assay {

bool sums_of_deform_conv(EvalContext& c, int64_t i, SummedElement& out) {
  using namespace op_onnx_DeformConv;
  const ConvPlan plan = plan_conv(c, c.shape(kX), c.shape(kW));
  const int64_t positions = plan.window.out_size(), position = i % positions,
                channel = i / positions % plan.size.out_channels,
                image = i / positions / plan.size.out_channels;
  const int64_t group = channel / (plan.size.out_channels / plan.size.groups),
                channels = plan.size.in_channels / plan.size.groups, depth = channels * plan.window.taps();
  const DeformedColumns columns(parts_of(c, plan, image, group, false), channels, position, 1);
  const double* weights = c.input(kW).data<double>() + channel * depth;
  Addends addends{.terms = {}, .inner = plan.window.taps()};
  for (int64_t row = 0; row < depth; ++row)
    addends.terms.push_back(weights[row] * columns.element(row, position));
  if (c.has_input(kBias)) addends.bias = c.input(kBias).data<double>()[channel];
  set_sum_of_products(std::move(addends), 1, 0, out);
  return true;
}

}  // namespace assay
