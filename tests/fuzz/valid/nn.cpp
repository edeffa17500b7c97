// Convolutions, pooling, normalizations, attention, images, losses.
#include <algorithm>
#include <numeric>

#include "fuzz/valid/recipes.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

/// Extents of a window operator over 1 to 3 axes, such that every window begins inside and no result is
/// empty.
struct Window {
  std::vector<int64_t> in, kernel, strides, dilations, pads;

  int rank() const { return static_cast<int>(in.size()); }
};

Window draw_window(Draft& d, bool may_dilate = true) {
  Window w;
  const int64_t rank = d.r.one_of({1, 2, 2, 2, 3});
  w.pads.resize(static_cast<size_t>(2 * rank));
  for (int64_t i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(i);
    w.kernel.push_back(d.positive(3));
    w.strides.push_back(d.r.one_of({1, 1, 2, 3}));
    w.dilations.push_back(may_dilate && d.r.chance(30) ? 2 : 1);
    w.in.push_back(d.r.between(1, 5) + (w.kernel[at] - 1) * w.dilations[at]);
    if (!d.r.chance(50)) continue;
    // A pad smaller than the kernel, so that every window sees something.
    w.pads[at] = d.r.between(0, w.kernel[at] - 1);
    w.pads[at + static_cast<size_t>(rank)] = d.r.between(0, w.kernel[at] - 1);
  }
  return w;
}

/// Strides, dilations and pads as attributes; the defaults are left out now and then.
void give_window(Draft& d, const Window& w, bool kernel_required) {
  if (kernel_required || d.r.chance(60)) d.attr("kernel_shape", w.kernel);
  d.attr("strides", w.strides);
  d.attr("dilations", w.dilations);
  const bool dilated = std::any_of(w.dilations.begin(), w.dilations.end(), [](int64_t x) { return x > 1; });
  if (!dilated && d.r.chance(30))
    return d.attr("auto_pad", std::string(d.r.one_of({"SAME_UPPER", "SAME_LOWER", "VALID"})));
  d.attr("pads", w.pads);
}

Shape with(std::initializer_list<int64_t> first, const std::vector<int64_t>& rest) {
  Shape s(first);
  for (const int64_t x : rest) s.push_back(x);
  return s;
}

}  // namespace

void make_conv(Draft& d) {
  const Window w = draw_window(d);
  const int64_t group = d.r.one_of({1, 1, 2, 3}), c = group * d.positive(3), m = group * d.positive(3);
  const std::string x = d.schema.inputs[0].name, k = d.schema.inputs[1].name;
  d.input(x, with({d.positive(2), c}, w.in));
  d.input(k, with({m, c / group}, w.kernel));
  if (group > 1) d.attr("group", group);
  d.maybe_input("B", {m});
  // Each of the quantized ones, in its own scale: products of powers of two are exact.
  for (const char* zero : {"x_zero_point", "w_zero_point"}) d.maybe_input(zero, {}, 60, 0, 4);
  give_window(d, w, false);
}

void make_conv_transpose(Draft& d) {
  Window w = draw_window(d);
  const int64_t group = d.r.one_of({1, 1, 2}), c = group * d.positive(3), m = group * d.positive(2);
  for (size_t i = 0; i < w.in.size(); ++i) w.in[i] = d.positive(4);
  d.input("X", with({d.positive(2), c}, w.in));
  d.input("W", with({c, m / group}, w.kernel));
  if (group > 1) d.attr("group", group);
  d.maybe_input("B", {m});
  // Nothing is cut away but what the kernel adds.
  const size_t n = w.in.size();
  for (size_t i = 0; i < n; ++i)
    w.pads[i] = d.r.between(0, (w.kernel[i] - 1) / 2), w.pads[i + n] = d.r.between(0, (w.kernel[i] - 1) / 2);
  if (d.r.chance(30)) {
    std::vector<int64_t> extra;
    for (size_t i = 0; i < n; ++i)
      extra.push_back(d.r.between(0, std::max(w.strides[i], w.dilations[i]) - 1));
    d.attr("output_padding", extra);
  }
  give_window(d, w, false);
}

void make_deform_conv(Draft& d) {
  Window w = draw_window(d);
  while (w.rank() != 2) w = draw_window(d);
  const int64_t group = d.r.between(1, 2), c = group * d.positive(2), m = group * d.positive(2),
                n = d.positive(2);
  const int64_t points = w.kernel[0] * w.kernel[1];
  std::vector<int64_t> out;
  for (size_t i = 0; i < 2; ++i)
    out.push_back(
        (w.in[i] + w.pads[i] + w.pads[i + 2] - w.dilations[i] * (w.kernel[i] - 1) - 1) / w.strides[i] + 1);
  d.input("X", with({n, c}, w.in));
  d.input("W", with({m, c / group}, w.kernel));
  d.input("offset", with({n, 2 * points}, out), -1.5, 1.5);
  d.maybe_input("B", {m});
  d.maybe_input("mask", with({n, points}, out), 50, 0, 1);
  if (group > 1) d.attr("group", group);
  d.attr("strides", w.strides);
  d.attr("dilations", w.dilations);
  d.attr("pads", w.pads);
  if (d.r.chance(50)) d.attr("kernel_shape", w.kernel);
}

void make_pool(Draft& d) {
  const Window w = draw_window(d, d.has_attr("dilations"));
  d.input("X", with({d.positive(2), d.positive(3)}, w.in));
  give_window(d, w, true);
  d.flag("count_include_pad");
  d.flag("ceil_mode");
  d.flag("storage_order");
  if (d.has_attr("p") && d.since > 1) d.attr("p", d.r.between(1, 3));
}

void make_global_pool(Draft& d) {
  d.input("X", d.positive_shape(3, 5));
  if (d.has_attr("p") && d.since > 1) d.attr("p", d.r.between(1, 3));
}

void make_max_unpool(Draft& d) {
  const int64_t k = d.r.between(1, 3), h = d.positive(3), w = d.positive(3), n = d.positive(2),
                c = d.positive(2);
  const Shape s = {n, c, h, w};
  d.input("X", s);
  // One place in every window.
  Tensor places = Tensor::allocate(DType::kInt64, s);
  auto* p = places.mutable_data<int64_t>();
  for (int64_t i = 0; i < places.numel(); ++i) {
    const int64_t plane = i / (h * w), y = i / w % h, x = i % w;
    p[i] = (plane * h * k + y * k + d.r.between(0, k - 1)) * w * k + x * k + d.r.between(0, k - 1);
  }
  d.input("I", places);
  d.attr("kernel_shape", std::vector<int64_t>{k, k});
  d.attr("strides", std::vector<int64_t>{k, k});
  if (d.r.chance(40)) d.input("output_shape", Tensor::vector(std::vector<int64_t>{n, c, h * k, w * k}));
}

void make_max_roi_pool(Draft& d) {
  const int64_t n = d.positive(2), side = d.r.between(4, 8);
  d.input("X", Shape{n, d.positive(2), side, side});
  Tensor rois = Tensor::allocate(DType::kFloat32, {d.positive(3), 5});
  auto* p = rois.mutable_data<float>();
  for (int64_t i = 0; i < rois.dim(0); ++i, p += 5) {
    p[0] = static_cast<float>(d.r.between(0, n - 1));
    for (int a = 1; a <= 2; ++a) {
      p[a] = static_cast<float>(d.r.between(0, side - 2));
      p[a + 2] = static_cast<float>(d.r.between(static_cast<int64_t>(p[a]) + 1, side - 1));
    }
  }
  d.choose("T", {DType::kFloat32});
  d.input("X", Shape{n, d.positive(2), side, side});
  d.input("rois", rois);
  d.attr("pooled_shape", std::vector<int64_t>{d.positive(3), d.positive(3)});
}

void make_roi_align(Draft& d) {
  const int64_t n = d.positive(2), side = d.r.between(3, 8), count = d.positive(3);
  d.input("X", Shape{n, d.positive(2), side, side});
  Tensor rois = Tensor::allocate(DType::kFloat32, {count, 4});
  auto* p = rois.mutable_data<float>();
  for (int64_t i = 0; i < count; ++i, p += 4)
    for (int a = 0; a < 2; ++a) {
      p[a] = static_cast<float>(d.r.between(0, 4 * side - 8)) / 4;
      p[a + 2] = p[a] + static_cast<float>(d.r.between(4, 8)) / 4;
    }
  d.input("rois", convert(rois, d.input_dtype("rois")));
  d.input("batch_indices", d.integers(DType::kInt64, {count}, 0, n - 1));
  d.word("coordinate_transformation_mode", {"half_pixel", "output_half_pixel"});
  d.word("mode", {"avg", "max"});
  d.attr("output_height", d.positive(3));
  d.attr("output_width", d.positive(3));
  if (d.r.chance(60)) d.attr("sampling_ratio", d.r.between(0, 3));
  if (d.r.chance(40)) d.attr("spatial_scale", 0.5f);
}

void make_col2im(Draft& d) {
  const Window w = draw_window(d);
  int64_t points = 1, blocks = 1;
  for (size_t i = 0; i < w.in.size(); ++i) {
    points *= w.kernel[i];
    blocks *= (w.in[i] + w.pads[i] + w.pads[i + w.in.size()] - w.dilations[i] * (w.kernel[i] - 1) - 1) /
                  w.strides[i] +
              1;
  }
  d.input("input", Shape{d.positive(2), d.positive(2) * points, blocks});
  d.ints("image_shape", w.in);
  d.ints("block_shape", w.kernel);
  d.attr("strides", w.strides);
  d.attr("dilations", w.dilations);
  d.attr("pads", w.pads);
}

void make_lrn(Draft& d) {
  d.input("X", d.positive_shape(3, 5));
  d.attr("size", d.r.one_of({1, 3, 5}));
  d.number("alpha", 0.25, 1);
  d.number("bias", 1, 2);
}

void make_batch_norm(Draft& d) {
  Shape s = d.positive_shape(2, 5);
  if (d.since < 7) s = d.positive_shape(4, 4);
  const Shape c = {s[1]};
  const auto& in = d.schema.inputs;
  d.input("X", s);
  d.input(in[1].name, c, 0.5, 2);
  d.input(in[2].name, c);
  d.input(in[3].name, c);
  d.input(in[4].name, c, 0.5, 2);
  d.outputs = 1;
  if (d.since < 7) {
    d.attr("is_test", int64_t{1});
    if (d.since == 1) d.attr("consumed_inputs", std::vector<int64_t>{0, 0, 0, 1, 1});
  }
  if (d.r.chance(50)) d.attr("epsilon", 0.01f);
  if (d.since >= 14 && d.r.chance(30)) {
    d.attr("training_mode", int64_t{1});
    d.number("momentum", 0.25, 0.75);
    d.outputs = 3;
  }
}

void make_instance_norm(Draft& d) {
  const Shape s = d.positive_shape(3, 5);
  d.input("input", s);
  d.input("scale", Shape{s[1]});
  d.input("B", Shape{s[1]});
  if (d.r.chance(50)) d.attr("epsilon", 0.01f);
}

void make_group_norm(Draft& d) {
  Shape s = d.positive_shape(3, 4);
  const int64_t groups = d.r.between(1, 3);
  s[1] *= groups;
  d.input("X", s);
  d.input("scale", Shape{d.since < 21 ? groups : s[1]});
  d.input("bias", Shape{d.since < 21 ? groups : s[1]});
  d.attr("num_groups", groups);
  if (d.r.chance(50)) d.attr("epsilon", 0.01f);
}

/// LayerNormalization and RMSNormalization.
void make_layer_norm(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  const int64_t axis = d.axis(s.rank());
  d.attr("axis", axis);
  const Shape normalized(s.begin() + (axis < 0 ? axis + s.rank() : axis), s.end());
  d.input("X", s);
  d.input(d.schema.inputs[1].name, d.r.chance(80) ? normalized : d.broadcast_to(normalized));
  d.maybe_input("B", normalized);
  if (d.r.chance(50)) d.attr("epsilon", 0.01f);
}

void make_dropout(Draft& d) {
  d.input(d.schema.inputs[0].name, d.shape(1, 4));
  if (d.since < 7) d.attr("is_test", int64_t{1});
  if (d.has_attr("ratio")) d.number("ratio", 0.25, 0.5);
  d.maybe_input("ratio", {}, 50, 0.25, 0.5);
  if (d.has_input("training_mode") && d.r.chance(40)) d.input("training_mode", Tensor::scalar(false));
}

void make_attention(Draft& d) {
  const int64_t b = d.positive(2), kv_heads = d.positive(2), heads = kv_heads * d.positive(2),
                head = 2 * d.positive(2);
  const int64_t q = d.positive(3), past = d.r.chance(30) ? d.positive(3) : 0, k = d.positive(4),
                v_head = d.r.chance(70) ? head : d.positive(4);
  const bool flat = d.r.chance(40);
  const auto shape = [&](int64_t n, int64_t length, int64_t size) {
    return flat ? Shape{b, length, n * size} : Shape{b, n, length, size};
  };
  if (flat) d.attr("q_num_heads", heads), d.attr("kv_num_heads", kv_heads);
  d.choose("T2", {d.dtype("T1")});
  d.input("Q", shape(heads, q, head), -1, 1);
  d.input("K", shape(kv_heads, k, head), -1, 1);
  d.input("V", shape(kv_heads, k, v_head), -1, 1);
  d.outputs = 1;
  if (past > 0) {
    d.input("past_key", Shape{b, kv_heads, past, head}, -1, 1);
    d.input("past_value", Shape{b, kv_heads, past, v_head}, -1, 1);
    d.outputs = 3;
  }
  if (d.r.chance(40)) {
    d.choose("U", {d.r.chance(60) ? d.dtype("T1") : DType::kBool});
    const Shape whole = {b, heads, q, past + k};
    Shape mask = d.broadcast_to(whole);
    while (mask.rank() < 2) mask.insert_at(0, 1);
    mask[static_cast<size_t>(mask.rank() - 2)] = q;
    mask[static_cast<size_t>(mask.rank() - 1)] = past + k;
    d.input("attn_mask", mask, -2, 1);
  }
  d.flag("is_causal");
  if (d.r.chance(30)) d.attr("scale", 0.5f);
  if (d.r.chance(20)) d.attr("softcap", 2.0f);
  if (d.r.chance(20)) d.attr("qk_matmul_output_mode", d.r.between(0, 3)), d.outputs = past > 0 ? 4 : 1;
}

void make_rotary(Draft& d) {
  const int64_t b = d.positive(2), n = d.positive(3), length = d.positive(3), head = 2 * d.positive(3),
                places = length + d.r.between(0, 3);
  const bool flat = d.r.chance(40), ids = d.r.chance(60);
  d.input("X", flat ? Shape{b, length, n * head} : Shape{b, n, length, head});
  if (flat) d.attr("num_heads", n);
  const int64_t rotated = d.r.chance(30) ? 2 * d.r.between(1, head / 2) : 0;
  if (rotated > 0) d.attr("rotary_embedding_dim", rotated);
  const int64_t half = (rotated > 0 ? rotated : head) / 2;
  const Shape cache = ids ? Shape{places, half} : Shape{b, length, half};
  d.input("cos_cache", cache, -1, 1);
  d.input("sin_cache", cache, -1, 1);
  if (ids) d.input("position_ids", d.integers(DType::kInt64, {b, length}, 0, places - 1));
  d.flag("interleaved");
}

void make_linear_attention(Draft& d) {
  const int64_t b = d.positive(2), h = d.positive(2), length = d.positive(3), k = d.positive(3),
                v = d.positive(3);
  const std::string rule = d.r.one_of({"linear", "gated", "delta", "gated_delta"});
  d.attr("update_rule", rule);
  d.attr("q_num_heads", h);
  d.attr("kv_num_heads", h);
  d.input("query", Shape{b, length, h * k}, -1, 1);
  d.input("key", Shape{b, length, h * k}, -1, 1);
  d.input("value", Shape{b, length, h * v}, -1, 1);
  d.maybe_input("past_state", {b, h, k, v}, 50, -1, 1);
  if (rule.find("gated") == 0) d.input("decay", Shape{b, length, h}, -1, 0);
  if (rule.find("delta") != std::string::npos) d.input("beta", Shape{b, length, h}, 0, 1);
}

void make_causal_conv(Draft& d) {
  const int64_t b = d.positive(2), c = d.positive(3), k = d.r.between(2, 4);
  d.input("input", Shape{b, c, d.positive(5)});
  d.input("weight", Shape{c, 1, k});
  d.maybe_input("bias", {c});
  d.maybe_input("past_state", {b, c, k - 1});
  d.word("activation", {"none", "silu", "swish"});
}

void make_swiglu(Draft& d) {
  const Shape s = d.shape(1, 3);
  d.input("A", s);
  d.input("B", s);
  d.number("alpha", 0.5, 2);
}

void make_resize(Draft& d) {
  Shape s = {d.positive(2), d.positive(2), d.r.between(1, 6), d.r.between(1, 6)};
  for (const char* constraint : {"T", "T1"})
    d.choose(constraint, {DType::kFloat32, DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt8,
                          DType::kUInt8, DType::kFloat16});
  std::vector<std::string> modes = {"nearest", "linear"},
                           places = {"asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"};
  if (d.since >= 11) modes.emplace_back("cubic");
  const std::string mode = d.r.one_of(modes);
  d.attr("mode", mode);
  d.input("X", s);
  if (d.has_attr("coordinate_transformation_mode")) {
    d.word("coordinate_transformation_mode", places);
    d.word("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
    if (mode == "cubic") d.flag("exclude_outside");
    if (mode == "cubic" && d.r.chance(30)) d.attr("cubic_coeff_a", -0.5f);
    if (mode != "nearest" && d.r.chance(30)) d.attr("antialias", int64_t{1});
  }
  if (d.has_input("sizes") && d.r.chance(50)) {
    const std::vector<int64_t> sizes = {s[0], s[1], d.r.between(1, 9), d.r.between(1, 9)};
    return d.input("sizes", Tensor::vector(sizes));
  }
  // Scales whose products with the extents are exact.
  std::vector<float> scales = {1, 1};
  for (int i = 0; i < 2; ++i)
    scales.push_back(d.since < 10 ? d.r.one_of({1.0f, 2.0f, 3.0f})
                                  : d.r.one_of({0.5f, 1.0f, 1.5f, 2.0f, 2.5f}));
  if (d.since < 10) s[2] = std::max<int64_t>(s[2], 1);
  if (d.has_input("scales")) return d.input("scales", Tensor::vector(scales));
  if (d.has_attr("scales")) return d.attr("scales", scales);
  d.attr("height_scale", scales[2]);
  d.attr("width_scale", scales[3]);
}

void make_grid_sample(Draft& d) {
  const bool volume = d.since >= 20 && d.r.chance(30);
  const int64_t n = d.positive(2);
  Shape x = {n, d.positive(2), d.positive(5), d.positive(5)}, grid = {n, d.positive(3), d.positive(3), 2};
  if (volume) x.push_back(d.positive(4)), grid = {n, d.positive(2), d.positive(3), d.positive(2), 3};
  d.input("X", x);
  d.input("grid", grid, -1.5, 1.5);
  if (d.since >= 20)
    d.word("mode", volume ? std::vector<std::string>{"nearest", "linear"}
                          : std::vector<std::string>{"nearest", "linear", "cubic"});
  else
    d.word("mode", {"nearest", "bilinear", "bicubic"});
  d.word("padding_mode", {"zeros", "border", "reflection"});
  d.flag("align_corners");
}

void make_affine_grid(Draft& d) {
  const bool volume = d.r.chance(40);
  const int64_t n = d.positive(2);
  d.input("theta", volume ? Shape{n, 3, 4} : Shape{n, 2, 3});
  std::vector<int64_t> size = {n, d.positive(2)};
  for (int i = volume ? 3 : 2; i > 0; --i) size.push_back(d.r.between(2, 4));
  d.ints("size", size);
  d.flag("align_corners");
}

void make_non_max_suppression(Draft& d) {
  const int64_t batches = d.positive(2), boxes = d.positive(6);
  d.input("boxes", Shape{batches, boxes, 4}, 0.25, 4);
  d.input("scores", Shape{batches, d.positive(2), boxes}, 0, 1);
  const bool centers = d.r.chance(40);
  if (centers) d.attr("center_point_box", int64_t{1});
  if (d.r.chance(90))
    d.input("max_output_boxes_per_class", Tensor::vector(std::vector<int64_t>{d.r.between(0, 5)}));
  if (d.r.chance(60))
    d.input("iou_threshold", Tensor::vector(std::vector<float>{d.r.one_of({0.0f, 0.3f, 0.5f})}));
  if (d.r.chance(60)) d.input("score_threshold", Tensor::vector(std::vector<float>{0.4f}));
}

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
void make_loss(Draft& d) {
  const Shape s = d.positive_shape(2, 4);
  Shape labels = {s[0]};
  for (int i = 2; i < s.rank(); ++i) labels.push_back(s[static_cast<size_t>(i)]);
  const auto& in = d.schema.inputs;
  d.input(in[0].name, s);
  const bool ignore = d.r.chance(40);
  if (ignore) d.attr("ignore_index", d.r.chance(50) ? int64_t{-1} : int64_t{0});
  d.input(in[1].name, d.integers(d.input_dtype(in[1].name), labels, 0, s[1] - 1));
  d.maybe_input(in[2].name, {s[1]}, 50, 0.25, 2);
  d.word("reduction", {"none", "mean", "sum"});
}

}  // namespace assay::fuzz
