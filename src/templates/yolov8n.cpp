// YOLOv8n (Jocher et al., Ultralytics, 2023) with its detection head, as it is exported: batch normalisation
// folded into the convolutions, boxes decoded to pixels.
#include <fmt/core.h>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_yolov8n {
namespace {

constexpr int64_t kExtent = 640;
constexpr int64_t kClasses = 80;
constexpr int64_t kBins = 16;  ///< of the distribution over each box side's distance
constexpr int64_t kStrides[] = {8, 16, 32};

/// Convolution, batch normalisation, SiLU; same extents at stride 1.
Feature conv_silu(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t kernel,
                  int64_t stride = 1) {
  const ConvSpec spec = {.outputs = outputs, .kernel = kernel, .stride = stride, .pad = kernel / 2};
  return silu(b, s.child("act"), conv_with_folded_norm(b, s.child("conv"), x, spec));
}

/// The cross-stage block: half of the channels go through bottlenecks one after the other, and all stages are
/// joined.
Feature c2f(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int bottlenecks,
            bool residual) {
  std::vector<Feature> parts = split_channels(b, s, conv_silu(b, s.child("cv1"), x, outputs, 1), 2);
  for (int i = 0; i < bottlenecks; ++i) {
    const Scope m = s.child(fmt::format("m.{}", i));
    const Feature y = conv_silu(b, m.child("cv1"), parts.back(), outputs / 2, 3);
    const Feature z = conv_silu(b, m.child("cv2"), y, outputs / 2, 3);
    parts.push_back(residual ? add(b, m, parts.back(), z) : z);
  }
  return conv_silu(b, s.child("cv2"), concat(b, s, parts), outputs, 1);
}

/// Spatial pyramid: three 5x5 pools in a row, which see 5x5, 9x9 and 13x13.
Feature sppf(TemplateBuilder& b, const Scope& s, const Feature& x) {
  const Window window = {.kernel = 5, .pad = 2};
  std::vector<Feature> parts = {conv_silu(b, s.child("cv1"), x, x.channels / 2, 1)};
  for (const int64_t reach : {5, 9, 13}) {
    const Scope pool = s.child(reach == 5 ? "m" : fmt::format("m_{}", parts.size() - 1));
    parts.push_back(max_pool(b, pool, parts.back(), window, reach));
  }
  return conv_silu(b, s.child("cv2"), concat(b, s, parts), x.channels, 1);
}

/// Layers 0 to 21: the three maps that the head looks at, finest first.
std::vector<Feature> backbone_and_neck(TemplateBuilder& b, Feature x) {
  const auto layer = [](int i) { return Scope().child(fmt::format("model.{}", i)); };
  x = conv_silu(b, layer(0), x, 16, 3, 2);
  x = conv_silu(b, layer(1), x, 32, 3, 2);
  x = c2f(b, layer(2), x, 32, 1, true);
  x = conv_silu(b, layer(3), x, 64, 3, 2);
  const Feature p3 = c2f(b, layer(4), x, 64, 2, true);
  x = conv_silu(b, layer(5), p3, 128, 3, 2);
  const Feature p4 = c2f(b, layer(6), x, 128, 2, true);
  x = conv_silu(b, layer(7), p4, 256, 3, 2);
  x = c2f(b, layer(8), x, 256, 1, true);
  const Feature p5 = sppf(b, layer(9), x);

  x = concat(b, layer(11), {upsample_2x(b, layer(10), p5), p4});
  const Feature middle = c2f(b, layer(12), x, 128, 1, false);
  x = concat(b, layer(14), {upsample_2x(b, layer(13), middle), p3});
  const Feature fine = c2f(b, layer(15), x, 64, 1, false);
  x = concat(b, layer(17), {conv_silu(b, layer(16), fine, 64, 3, 2), middle});
  const Feature medium = c2f(b, layer(18), x, 128, 1, false);
  x = concat(b, layer(20), {conv_silu(b, layer(19), medium, 128, 3, 2), p5});
  return {fine, medium, c2f(b, layer(21), x, 256, 1, false)};
}

/// Two 3x3 convolutions and a plain 1x1 one.
Feature head_branch(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t width, int64_t outputs,
                    const Init& bias) {
  Feature y = conv_silu(b, s.item(0), x, width, 3);
  y = conv_silu(b, s.item(1), y, width, 3);
  return conv(b, s.item(2), y, {.outputs = outputs, .bias = true}, Init::he_normal(width), bias);
}

/// Boxes and class scores of every cell, [batch, 4 * kBins + kClasses, cells].
Value* raw_predictions(TemplateBuilder& b, const Scope& head, const std::vector<Feature>& maps) {
  // A class has the prior probability 0.01 (Lin et al., "Focal Loss for Dense Object Detection"): its logit
  // is -log(99).
  const Init box_bias = Init::normal(0.05, 1.0), class_bias = Init::normal(0.05, -4.59511985);
  std::vector<Value*> levels;
  for (size_t i = 0; i < maps.size(); ++i) {
    const Feature box =
        head_branch(b, head.child(fmt::format("cv2.{}", i)), maps[i], 64, 4 * kBins, box_bias);
    const Feature score =
        head_branch(b, head.child(fmt::format("cv3.{}", i)), maps[i], 80, kClasses, class_bias);
    levels.push_back(concat(b, head, {box, score}).value);
  }
  for (Value*& v : levels) v = reshape(b, head, v, {0, 4 * kBins + kClasses, -1});
  return b.node(head, "Concat", levels, {{"axis", int64_t{2}}});
}

/// Centres of the cells in units of their stride, [1, 2, cells], and the strides, [1, cells].
std::pair<Tensor, Tensor> anchor_points() {
  std::vector<float> xs, ys, strides;
  for (const int64_t stride : kStrides)
    for (int64_t y = 0; y < kExtent / stride; ++y)
      for (int64_t x = 0; x < kExtent / stride; ++x) {
        xs.push_back(static_cast<float>(x) + 0.5F);
        ys.push_back(static_cast<float>(y) + 0.5F);
        strides.push_back(static_cast<float>(stride));
      }
  const auto cells = static_cast<int64_t>(strides.size());
  xs.insert(xs.end(), ys.begin(), ys.end());
  return {Tensor::from({1, 2, cells}, xs), Tensor::from({1, cells}, strides)};
}

/// The expected distance to each side, [batch, 4, cells]: a softmax over the bins, then their weighted sum as
/// a convolution with the weights 0, 1, 2, ...
Value* box_distances(TemplateBuilder& b, const Scope& s, Value* box, int64_t cells) {
  Value* x = reshape(b, s, box, {0, 4, kBins, cells});
  if (b.opset() >= 13) {
    x = b.node(s, "Softmax", {transpose(b, s, x, {0, 2, 1, 3})}, {{"axis", int64_t{1}}});
  } else {
    x = transpose(b, s, softmax(b, s, transpose(b, s, x, {0, 3, 1, 2})), {0, 3, 2, 1});
  }
  const Scope conv_scope = s.child("conv");
  std::vector<float> bins;
  for (int64_t i = 0; i < kBins; ++i) bins.push_back(static_cast<float>(i));
  Value* weight = b.add_weight(conv_scope, "weight", Tensor::from({1, kBins, 1, 1}, bins));
  x = b.node(conv_scope, "Conv", {x, weight}, {{"kernel_shape", std::vector<int64_t>{1, 1}}});
  return reshape(b, s, x, {0, 4, cells});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "yolov8n");
  const Scope head = Scope().child("model.22");
  const std::vector<Feature> maps = backbone_and_neck(b, image_input(b, "images", 3, kExtent, kExtent));
  Value* raw = raw_predictions(b, head, maps);
  const std::vector<Value*> parts = split(b, head, raw, 1, {4 * kBins, kClasses});

  auto [points, strides] = anchor_points();
  const int64_t cells = strides.dim(1);
  Value* distances = box_distances(b, head.child("dfl"), parts[0], cells);
  Value* anchors = b.constant(head, std::move(points));
  Value* top_left = b.node(head, "Sub", {anchors, slice(b, head, distances, 1, 0, 2)});
  Value* bottom_right = b.node(head, "Add", {anchors, slice(b, head, distances, 1, 2, 4)});
  Value* centre = b.node(head, "Div", {b.node(head, "Add", {top_left, bottom_right}), b.scalar(head, 2)});
  Value* extent = b.node(head, "Sub", {bottom_right, top_left});
  Value* box = b.node(head, "Concat", {centre, extent}, {{"axis", int64_t{1}}});
  Value* pixels = b.node(head, "Mul", {box, b.constant(head, std::move(strides))});
  Value* scores = b.node(head, "Sigmoid", {parts[1]});
  Value* result = b.node(head, "Concat", {pixels, scores}, {{"axis", int64_t{1}}});
  b.output(result, "output0", DType::kFloat32, {b.batch(), 4 + kClasses, cells});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {.name = "yolov8n",
                                     .summary = "object detector, 640x640, boxes decoded (Ultralytics, 2023)",
                                     .build = build};

}  // namespace assay::template_yolov8n
