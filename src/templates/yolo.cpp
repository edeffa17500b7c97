#include "templates/yolo.h"

#include <fmt/core.h>

#include "templates/layers.h"

namespace assay {
namespace {

constexpr int64_t kBins = 16;  ///< of the distribution over each box side's distance

ConvSpec yolo_spec(const Feature& x, int64_t outputs, int64_t kernel, int64_t stride, bool depthwise) {
  return {.outputs = outputs,
          .kernel = kernel,
          .stride = stride,
          .pad = kernel / 2,
          .groups = depthwise ? x.channels : 1};
}

}  // namespace

Scope yolo_layer(int i) { return Scope().child(fmt::format("model.{}", i)); }

Feature yolo_conv(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t kernel,
                  int64_t stride, bool depthwise) {
  const ConvSpec spec = yolo_spec(x, outputs, kernel, stride, depthwise);
  return silu(b, s.child("act"), conv_with_folded_norm(b, s.child("conv"), x, spec));
}

Feature yolo_linear_conv(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs,
                         int64_t kernel, bool depthwise) {
  return conv_with_folded_norm(b, s.child("conv"), x, yolo_spec(x, outputs, kernel, 1, depthwise),
                               kResidualNorm);
}

Feature yolo_bottleneck(TemplateBuilder& b, const Scope& s, const Feature& x, const YoloBottleneck& spec) {
  const Feature y = yolo_conv(b, s.child("cv1"), x, spec.hidden, spec.first_kernel);
  const Feature z = yolo_conv(b, s.child("cv2"), y, x.channels, 3);
  return spec.residual ? add(b, s, x, z) : z;
}

Feature yolo_c3(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int bottlenecks,
                int64_t first_kernel, bool residual) {
  Feature y = yolo_conv(b, s.child("cv1"), x, outputs / 2, 1);
  for (int i = 0; i < bottlenecks; ++i)
    y = yolo_bottleneck(b, s.child("m").item(i), y, {outputs / 2, first_kernel, residual});
  const Feature beside = yolo_conv(b, s.child("cv2"), x, outputs / 2, 1);
  return yolo_conv(b, s.child("cv3"), concat(b, s, {y, beside}), outputs, 1);
}

Feature yolo_c2f(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t hidden,
                 int blocks, const YoloInner& inner) {
  std::vector<Feature> parts = split_channels(b, s, yolo_conv(b, s.child("cv1"), x, 2 * hidden, 1), 2);
  for (int i = 0; i < blocks; ++i) parts.push_back(inner(s.child(fmt::format("m.{}", i)), parts.back()));
  return yolo_conv(b, s.child("cv2"), concat(b, s, parts), outputs, 1);
}

Feature yolo_sppf(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs) {
  const Window window = {.kernel = 5, .pad = 2};
  std::vector<Feature> parts = {yolo_conv(b, s.child("cv1"), x, x.channels / 2, 1)};
  for (const int64_t reach : {5, 9, 13}) {
    const Scope pool = s.child(reach == 5 ? "m" : fmt::format("m_{}", parts.size() - 1));
    parts.push_back(max_pool(b, pool, parts.back(), window, reach));
  }
  return yolo_conv(b, s.child("cv2"), concat(b, s, parts), outputs, 1);
}

namespace {

Value* raw_predictions(TemplateBuilder& b, const Scope& head, const std::vector<Feature>& maps,
                       const YoloBranch& class_branch) {
  // A class has the prior probability 0.01 (Lin et al., "Focal Loss for Dense Object Detection"): its logit
  // is -log(99).
  const Init box_bias = Init::normal(0.05, 1.0), class_bias = Init::normal(0.05, -4.59511985);
  const auto last = [&](const Scope& s, const Feature& x, int64_t outputs, const Init& bias) {
    return conv(b, s.item(2), x, {.outputs = outputs, .bias = true}, Init::he_normal(x.channels), bias);
  };
  std::vector<Value*> levels;
  for (size_t i = 0; i < maps.size(); ++i) {
    const Scope boxes = head.child(fmt::format("cv2.{}", i)), classes = head.child(fmt::format("cv3.{}", i));
    Feature y = yolo_conv(b, boxes.item(1), yolo_conv(b, boxes.item(0), maps[i], 64, 3), 64, 3);
    y = last(boxes, y, 4 * kBins, box_bias);
    const Feature scores = last(classes, class_branch(classes, maps[i]), kYoloClasses, class_bias);
    levels.push_back(concat(b, head, {y, scores}).value);
  }
  for (Value*& v : levels) v = reshape(b, head, v, {0, 4 * kBins + kYoloClasses, -1});
  return b.node(head, "Concat", levels, {{"axis", int64_t{2}}});
}

/// Centres of the cells in units of their stride, [1, 2, cells], and the strides, [1, cells].
std::pair<Tensor, Tensor> anchor_points() {
  std::vector<float> xs, ys, strides;
  for (const int64_t stride : kYoloStrides)
    for (int64_t y = 0; y < kYoloExtent / stride; ++y)
      for (int64_t x = 0; x < kYoloExtent / stride; ++x) {
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

}  // namespace

void yolo_detect(TemplateBuilder& b, const Scope& head, const std::vector<Feature>& maps,
                 const YoloBranch& class_branch) {
  Value* raw = raw_predictions(b, head, maps, class_branch);
  const std::vector<Value*> parts = split(b, head, raw, 1, {4 * kBins, kYoloClasses});
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
  b.output(result, "output0", DType::kFloat32, {b.batch(), 4 + kYoloClasses, cells});
}

}  // namespace assay
