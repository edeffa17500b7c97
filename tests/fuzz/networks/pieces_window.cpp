// Windows over images and signals.
#include <algorithm>
#include <cmath>

#include "fuzz/networks/growing_network.h"
#include "tensor/convert.h"

namespace assay::fuzz::pieces_of {
namespace {

using Ints = GrowingNetwork::Ints;

/// A value of rank 3 to 5, as images are; null when there is none.
Value* pick_image(GrowingNetwork& g) {
  for (const int rank : {static_cast<int>(g.r.between(3, 5)), 4, 3, 5})
    if (Value* v = g.pick(rank)) return v;
  return nullptr;
}

/// A window along each axis, so that at least one position fits.
struct Window {
  Ints kernel, strides, dilations, pads;
  AttributeList attributes(bool with_kernel = true) const {
    AttributeList list = {{"strides", strides}, {"pads", pads}};
    if (with_kernel) list.push_back({"kernel_shape", kernel});
    if (std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; }))
      list.push_back({"dilations", dilations});
    return list;
  }
};

Window window_over(GrowingNetwork& g, const Shape& in, bool pads_below_kernel) {
  Window w;
  Ints begin, end;
  const int64_t usual = g.r.one_of({1, 1, 2, 3, 3, 3, 5, 7});
  const bool square = g.r.chance(70), dilated = g.r.chance(20), strided = g.r.chance(40);
  for (int i = 2; i < in.rank(); ++i) {
    const int64_t kernel = square ? usual : g.r.between(1, 5);
    const int64_t dilation = dilated ? g.r.between(1, 3) : 1;
    const int64_t reach = (kernel - 1) * dilation + 1;
    int64_t before = g.r.chance(60) ? (reach - 1) / 2 : g.r.between(0, 2),
            after = g.r.chance(70) ? before : g.r.between(0, 2);
    if (pads_below_kernel) before = std::min(before, kernel - 1), after = std::min(after, kernel - 1);
    if (in[i] + before + after < reach) {
      w.kernel.push_back(1), w.dilations.push_back(1), before = after = 0;
    } else {
      w.kernel.push_back(kernel), w.dilations.push_back(dilation);
    }
    w.strides.push_back(strided ? g.r.between(1, 3) : 1);
    begin.push_back(before), end.push_back(after);
  }
  w.pads = begin;
  w.pads.insert(w.pads.end(), end.begin(), end.end());
  return w;
}

bool has_empty_image(const Shape& s) {
  return std::any_of(s.dims().begin() + 1, s.dims().end(), [](int64_t d) { return d == 0; });
}

}  // namespace

void conv(GrowingNetwork& g) {
  Value* x = pick_image(g);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (has_empty_image(in)) return;
  const Window w = window_over(g, in, false);
  const int64_t out = g.r.chance(30) ? in[1] * g.r.between(1, 2) : g.extent();
  const int64_t groups = g.r.chance(60)                       ? 1
                         : g.r.chance(40) && out % in[1] == 0 ? in[1]
                                                              : g.groups_of(in[1], out);
  Shape shape = {out, in[1] / groups};
  for (const int64_t k : w.kernel) shape.push_back(k);
  const double range = 1.5 / std::sqrt(static_cast<double>(std::max<int64_t>(1, shape.numel() / out)));
  std::vector<Value*> inputs = {x, g.weight(shape, -range, range)};
  if (g.r.chance(70)) inputs.push_back(g.weight({out}));
  AttributeList attributes = w.attributes();
  attributes.push_back({"group", groups});
  g.hand_on(g.op("Conv", inputs, attributes));
}

/// With weights that are stored in a few bits, in one of the forms of scales.
void stored_conv(GrowingNetwork& g) {
  Value* x = pick_image(g);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (has_empty_image(in)) return;
  const Window w = window_over(g, in, false);
  Shape shape = {1, in[1]};
  for (const int64_t k : w.kernel) shape.push_back(k);
  const int64_t depth = shape.numel();
  constexpr int64_t kStored = 1 << 14, kMostChannels = 400;  // fewer weights are folded
  shape[0] = kStored / depth + g.r.between(1, 20);
  if (shape[0] > kMostChannels) return;
  const DType type = g.r.one_of({DType::kInt8, DType::kUInt8, DType::kInt4, DType::kUInt4});
  const auto levels = [&](const Shape& s) {
    const Tensor numbers = g.weight(s, is_signed_integer(type) ? -8 : 0, 7)->tensor().aligned();
    return g.model->graph->add_constant(g.model->graph->unique_name("levels"), convert(numbers, type));
  };
  const int64_t block = g.r.between(5, 20);
  Shape scales = {shape[0]};
  AttributeList attributes = {{"axis", int64_t{0}}};
  if (g.r.chance(60)) {
    const auto axis = static_cast<size_t>(g.r.between(0, 1));
    scales = shape;
    scales[axis] = (shape[axis] + block - 1) / block;
    attributes = {{"axis", static_cast<int64_t>(axis)}, {"block_size", block}};
  }
  std::vector<Value*> stored = {levels(shape),
                                g.weight(scales, 0, 0.2 / std::sqrt(static_cast<double>(depth)))};
  if (g.r.chance(50)) stored.push_back(levels(scales));
  std::vector<Value*> inputs = {x, g.op("DequantizeLinear", stored, attributes)};
  if (g.r.chance(70)) inputs.push_back(g.weight({shape[0]}));
  g.hand_on(g.op("Conv", inputs, w.attributes()));
}

/// Branches over one image whose sum is one convolution, mostly: windows within a window, the image itself,
/// and its normalization.
void parallel_convs(GrowingNetwork& g) {
  Value* x = pick_image(g);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (has_empty_image(in)) return;
  const Window w = window_over(g, in, false);
  const int64_t groups = g.r.chance(50) ? 1 : g.groups_of(in[1], in[1]);
  const size_t rank = w.kernel.size();
  const auto branch = [&](const Window& window) {
    Shape shape = {in[1], in[1] / groups};
    for (const int64_t k : window.kernel) shape.push_back(k);
    const double range = 1.5 / std::sqrt(static_cast<double>(std::max<int64_t>(1, shape.numel() / in[1])));
    std::vector<Value*> inputs = {x, g.weight(shape, -range, range)};
    if (g.r.chance(50)) inputs.push_back(g.weight({in[1]}));
    AttributeList attributes = window.attributes();
    attributes.push_back({"group", groups});
    return g.op("Conv", inputs, attributes);
  };
  Value* sum = branch(w);
  const Shape out = GrowingNetwork::shape(*sum);
  for (int64_t more = g.r.between(1, 3); more > 0; --more) {
    Window inner = w;
    for (size_t d = 0; d < rank; ++d) {
      // Less padding stands for a window that begins later, or ends earlier.
      const int64_t begin = std::min(g.r.between(0, w.kernel[d] - 1), w.pads[d] / w.dilations[d]);
      const int64_t end =
          std::min(g.r.between(0, w.kernel[d] - 1 - begin), w.pads[rank + d] / w.dilations[d]);
      inner.kernel[d] -= begin + end;
      inner.pads[d] -= begin * w.dilations[d];
      inner.pads[rank + d] -= end * w.dilations[d];
      if (inner.kernel[d] == 1 && g.r.chance(50)) inner.dilations[d] = 1;
    }
    Value* y = g.r.chance(25) && out == in ? x : branch(inner);
    if (g.r.chance(25) && out == in)
      y = g.op("BatchNormalization",
               {x, g.weight({in[1]}), g.weight({in[1]}), g.weight({in[1]}), g.weight({in[1]}, 0.5, 2)});
    if (g.r.chance(15)) y = g.op("Relu", {y});
    sum = g.r.chance(50) ? g.op("Add", {sum, y}) : g.op("Add", {y, sum});
  }
  g.hand_on(sum);
}

void conv_transpose(GrowingNetwork& g) {
  Value* x = pick_image(g);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (has_empty_image(in)) return;
  const int64_t groups = g.r.chance(70) ? 1 : g.groups_of(in[1], in[1]);
  const int64_t out = groups * g.r.between(1, 17);
  Shape shape = {in[1], out / groups};
  Ints strides;
  for (int i = 2; i < in.rank(); ++i) {
    shape.push_back(g.r.between(1, 4));
    strides.push_back(g.r.between(1, 2));
  }
  const double range = 1.5 / std::sqrt(static_cast<double>(in[1]));
  std::vector<Value*> inputs = {x, g.weight(shape, -range, range)};
  if (g.r.chance(70)) inputs.push_back(g.weight({out}));
  g.hand_on(g.op("ConvTranspose", inputs, {{"strides", strides}, {"group", groups}}));
}

void deform_conv(GrowingNetwork& g) {
  Value* x = g.pick(4);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (has_empty_image(in) || in[0] == 0) return;
  const int64_t kernel = std::min<int64_t>({g.r.between(1, 3), in[2], in[3]}), out = g.extent();
  const int64_t h = in[2] - kernel + 1, w = in[3] - kernel + 1;
  const double range = 1.5 / (static_cast<double>(kernel) * std::sqrt(static_cast<double>(in[1])));
  g.hand_on(g.op("DeformConv",
                 {x, g.weight({out, in[1], kernel, kernel}, -range, range),
                  g.weight({in[0], 2 * kernel * kernel, h, w}, -2, 2)},
                 {{"kernel_shape", Ints{kernel, kernel}}, {"pads", Ints{0, 0, 0, 0}}}));
}

void pool(GrowingNetwork& g) {
  Value* x = pick_image(g);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (has_empty_image(in)) return;
  AttributeList attributes = window_over(g, in, true).attributes();
  if (g.r.chance(20)) attributes.push_back({"ceil_mode", int64_t{1}});
  if (g.r.chance(60)) return g.hand_on(g.op("MaxPool", {x}, attributes));
  if (g.r.chance(30)) attributes.push_back({"count_include_pad", int64_t{1}});
  g.hand_on(g.op("AveragePool", {x}, attributes));
}

void global_pool(GrowingNetwork& g) {
  Value* x = pick_image(g);
  if (x == nullptr || has_empty_image(GrowingNetwork::shape(*x))) return;
  Value* y = g.op(g.r.one_of({"GlobalAveragePool", "GlobalMaxPool"}), {x});
  g.hand_on(y);
  if (g.r.chance(40)) g.hand_on(g.op("Mul", {x, g.op("Sigmoid", {y})}));
}

void lrn(GrowingNetwork& g) {
  Value* x = pick_image(g);
  if (x == nullptr || has_empty_image(GrowingNetwork::shape(*x))) return;
  g.hand_on(g.op("LRN", {x},
                 {{"size", g.r.one_of({int64_t{1}, int64_t{3}, int64_t{4}, int64_t{5}})},
                  {"beta", g.r.one_of({0.75F, 0.75F, 0.5F, 1.0F})}}));
}

void resize(GrowingNetwork& g) {
  Value* x = pick_image(g);
  if (x == nullptr || has_empty_image(GrowingNetwork::shape(*x))) return;
  Ints sizes = GrowingNetwork::shape(*x).dims();
  for (size_t i = 2; i < sizes.size(); ++i)
    sizes[i] = g.r.chance(60) ? sizes[i] * 2 : g.r.between(1, 2 * sizes[i]);
  g.hand_on(g.op("Resize", {x, nullptr, nullptr, g.ints(sizes)},
                 {{"mode", std::string(g.r.one_of({"nearest", "linear", "cubic"}))},
                  {"coordinate_transformation_mode",
                   std::string(g.r.one_of({"half_pixel", "asymmetric", "align_corners"}))}}));
}

void blocks_of_channels(GrowingNetwork& g) {
  Value* x = g.pick(4);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (in[2] > 0 && in[2] % 2 == 0 && in[3] > 0 && in[3] % 2 == 0)
    g.hand_on(g.op("SpaceToDepth", {x}, {{"blocksize", int64_t{2}}}));
  else if (in[1] % 4 == 0)
    g.hand_on(g.op("DepthToSpace", {x},
                   {{"blocksize", int64_t{2}}, {"mode", std::string(g.r.one_of({"DCR", "CRD"}))}}));
}

void grid_sample(GrowingNetwork& g) {
  Value* x = g.pick(4);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (has_empty_image(in)) return;
  g.hand_on(g.op("GridSample", {x, g.weight({in[0], g.r.between(1, 9), g.r.between(1, 9), 2}, -1.3, 1.3)},
                 {{"mode", std::string(g.r.one_of({"linear", "nearest", "cubic"}))},
                  {"padding_mode", std::string(g.r.one_of({"zeros", "border", "reflection"}))},
                  {"align_corners", g.r.between(0, 1)}}));
}

void roi_align(GrowingNetwork& g) {
  Value* x = g.pick(4);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (has_empty_image(in) || in[0] == 0) return;
  const int64_t regions = g.r.between(1, 5);
  g.hand_on(g.op("RoiAlign",
                 {x, g.weight({regions, 4}, -1, 12), g.ints(Ints(static_cast<size_t>(regions), in[0] - 1))},
                 {{"mode", std::string(g.r.one_of({"avg", "max"}))},
                  {"output_height", g.r.between(1, 4)},
                  {"output_width", g.r.between(1, 4)},
                  {"sampling_ratio", g.r.between(0, 2)}}));
}

void fold_columns(GrowingNetwork& g) {
  Value* x = g.pick(3);
  if (x == nullptr) return;
  const Shape in = GrowingNetwork::shape(*x);
  if (in[1] % 2 != 0 || in[2] == 0) return;
  g.hand_on(g.op("Col2Im", {x, g.ints({1, in[2] + 1}), g.ints({1, 2})}));
}

}  // namespace assay::fuzz::pieces_of
