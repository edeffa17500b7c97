// YOLOv5s, version 6 (Jocher et al., Ultralytics, 2020), with its anchor-based head.
#include <fmt/core.h>

#include "templates/layers.h"
#include "templates/template_list.h"
#include "templates/yolo.h"

namespace assay::template_yolov5s {
namespace {

constexpr int64_t kAnchors = 3, kOutputs = 5 + kYoloClasses;
constexpr float kAnchorExtents[3][2 * kAnchors] = {
    {10, 13, 16, 30, 33, 23}, {30, 61, 62, 45, 59, 119}, {116, 90, 156, 198, 373, 326}};

Feature c3(TemplateBuilder& b, int i, const Feature& x, int64_t outputs, int bottlenecks, bool residual) {
  return yolo_c3(b, yolo_layer(i), x, outputs, bottlenecks, 1, residual);
}

std::vector<Feature> backbone_and_neck(TemplateBuilder& b, const Feature& image) {
  const ConvSpec stem = {.outputs = 32, .kernel = 6, .stride = 2, .pad = 2};
  Feature x = conv_with_folded_norm(b, yolo_layer(0).child("conv"), image, stem);
  x = silu(b, yolo_layer(0).child("act"), x);
  x = c3(b, 2, yolo_conv(b, yolo_layer(1), x, 64, 3, 2), 64, 1, true);
  const Feature p3 = c3(b, 4, yolo_conv(b, yolo_layer(3), x, 128, 3, 2), 128, 2, true);
  const Feature p4 = c3(b, 6, yolo_conv(b, yolo_layer(5), p3, 256, 3, 2), 256, 3, true);
  x = c3(b, 8, yolo_conv(b, yolo_layer(7), p4, 512, 3, 2), 512, 1, true);
  const Feature p5 = yolo_conv(b, yolo_layer(10), yolo_sppf(b, yolo_layer(9), x, 512), 256, 1);

  x = concat(b, yolo_layer(12), {upsample_2x(b, yolo_layer(11), p5), p4});
  const Feature middle = yolo_conv(b, yolo_layer(14), c3(b, 13, x, 256, 1, false), 128, 1);
  x = concat(b, yolo_layer(16), {upsample_2x(b, yolo_layer(15), middle), p3});
  const Feature fine = c3(b, 17, x, 128, 1, false);
  x = concat(b, yolo_layer(19), {yolo_conv(b, yolo_layer(18), fine, 128, 3, 2), middle});
  const Feature medium = c3(b, 20, x, 256, 1, false);
  x = concat(b, yolo_layer(22), {yolo_conv(b, yolo_layer(21), medium, 256, 3, 2), p5});
  return {fine, medium, c3(b, 23, x, 512, 1, false)};
}

/// Offsets of the cells and extents of the anchors, both [1, kAnchors, height, width, 2].
std::pair<Tensor, Tensor> grids(const Feature& x, size_t level) {
  std::vector<float> cells, anchors;
  for (int64_t a = 0; a < kAnchors; ++a)
    for (int64_t i = 0; i < x.height * x.width; ++i) {
      cells.push_back(static_cast<float>(i % x.width) - 0.5F);
      cells.push_back(static_cast<float>(i / x.width) - 0.5F);
      for (int64_t k = 0; k < 2; ++k) anchors.push_back(kAnchorExtents[level][2 * a + k]);
    }
  const Shape shape = {1, kAnchors, x.height, x.width, 2};
  return {Tensor::from(shape, cells), Tensor::from(shape, anchors)};
}

/// [batch, cells * anchors, kOutputs]: centre, extent, objectness and classes.
Value* decode(TemplateBuilder& b, const Scope& s, const Feature& x, size_t level) {
  Feature y = conv(b, s.child(fmt::format("m.{}", level)), x, {.outputs = kAnchors * kOutputs, .bias = true},
                   Init::lecun_normal(x.channels), Init::normal(0.05, -1.0));
  Value* v = reshape(b, s, y.value, {-1, kAnchors, kOutputs, x.height, x.width});
  v = b.node(s, "Sigmoid", {transpose(b, s, v, {0, 1, 3, 4, 2})});
  const std::vector<Value*> parts = split(b, s, v, 4, {2, 2, kOutputs - 4});
  auto [cells, anchors] = grids(x, level);
  Value* centre =
      b.node(s, "Add", {b.node(s, "Mul", {parts[0], b.scalar(s, 2)}), b.constant(s, std::move(cells))});
  centre = b.node(s, "Mul", {centre, b.scalar(s, static_cast<float>(kYoloStrides[level]))});
  Value* extents = b.node(s, "Pow", {b.node(s, "Mul", {parts[1], b.scalar(s, 2)}), b.scalar(s, 2)});
  extents = b.node(s, "Mul", {extents, b.constant(s, std::move(anchors))});
  return reshape(b, s, concat(b, s, {centre, extents, parts[2]}, 4),
                 {-1, kAnchors * x.height * x.width, kOutputs});
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "yolov5s");
  const std::vector<Feature> maps =
      backbone_and_neck(b, image_input(b, "images", 3, kYoloExtent, kYoloExtent));
  std::vector<Value*> levels;
  for (size_t i = 0; i < maps.size(); ++i) levels.push_back(decode(b, yolo_layer(24), maps[i], i));
  b.output(concat(b, yolo_layer(24), levels, 1), "output0", DType::kFloat32, {b.batch(), 25200, kOutputs});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "yolov5s",
    .summary = "object detector, 640x640: anchors, boxes decoded (Ultralytics, 2020)",
    .build = build};

}  // namespace assay::template_yolov5s
