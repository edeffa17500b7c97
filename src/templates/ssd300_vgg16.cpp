// SSD300 on VGG-16 (Liu et al., "SSD: Single Shot MultiBox Detector", 2016), as torchvision builds it for the
// 91 classes of COCO, with boxes decoded and suppressed by NonMaxSuppression.
#include <fmt/core.h>

#include <cmath>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_ssd300_vgg16 {
namespace {

constexpr int64_t kExtent = 300, kClasses = 91, kCells = 8732;
constexpr int64_t kAspects[6] = {4, 6, 6, 6, 4, 4};  ///< boxes at a cell of each map

Feature conv_relu(TemplateBuilder& b, const Scope& s, int at, const Feature& x, ConvSpec spec) {
  spec.bias = true;
  return relu(b, s.item(at + 1), conv(b, s.item(at), x, spec));
}

/// x divided by the norm of its channels, times a scale of each channel.
Feature l2_normalized(TemplateBuilder& b, const Scope& s, const Feature& x) {
  Value* norm = reduce(b, s, "ReduceL2", x.value, {1});
  norm = b.node(s, "Expand", {b.node(s, "Clip", {norm, b.scalar(s, 1e-12F)}), b.node(s, "Shape", {x.value})});
  Feature y = x;
  y.value =
      b.node(s, "Mul",
             {reshape(b, s, b.weight(s, "scale_weight", {x.channels}, Init::normal(1, 20)), {1, -1, 1, 1}),
              b.node(s, "Div", {x.value, norm})});
  y.moments = y.before_activation = {};
  return y;
}

/// The six maps for box predictions.
std::vector<Feature> maps(TemplateBuilder& b, const Feature& image) {
  const Scope root = Scope().child("backbone"), features = root.child("features");
  Feature x = image;
  int at = 0;
  const auto stage = [&](const Scope& s, int convs, int64_t outputs) {
    for (int i = 0; i < convs; ++i, at += 2)
      x = conv_relu(b, s, at, x, {.outputs = outputs, .kernel = 3, .pad = 1});
  };
  const auto pool = [&](const Scope& s, const Window& window) { x = max_pool(b, s.item(at++), x, window); };
  constexpr Window kHalf = {.kernel = 2, .stride = 2};
  stage(features, 2, 64);
  pool(features, kHalf);
  stage(features, 2, 128);
  pool(features, kHalf);
  stage(features, 3, 256);
  pool(features, {.kernel = 2, .stride = 2, .ceil_mode = true});
  stage(features, 3, 512);
  std::vector<Feature> found = {l2_normalized(b, root, x)};

  const Scope extra = root.child("extra"), deep = extra.item(0), fc = deep.item(7);
  at = 0;
  pool(deep, kHalf);
  stage(deep, 3, 512);
  x = max_pool(b, fc.item(0), x, {.kernel = 3, .stride = 1, .pad = 1});
  x = conv_relu(b, fc, 1, x, {.outputs = 1024, .kernel = 3, .pad = 6, .dilation = 6});
  x = conv_relu(b, fc, 3, x, {.outputs = 1024});
  found.push_back(x);
  struct Extra {
    int64_t inner, outputs, stride, pad;
  };
  int index = 1;
  for (const Extra& e :
       {Extra{256, 512, 2, 1}, Extra{128, 256, 2, 1}, Extra{128, 256, 1, 0}, Extra{128, 256, 1, 0}}) {
    const Scope s = extra.item(index++);
    x = conv_relu(b, s, 0, x, {.outputs = e.inner});
    x = conv_relu(b, s, 2, x, {.outputs = e.outputs, .kernel = 3, .stride = e.stride, .pad = e.pad});
    found.push_back(x);
  }
  return found;
}

/// Predictions of all maps, [batch, cells, columns].
Value* predictions(TemplateBuilder& b, const Scope& s, const std::vector<Feature>& found, int64_t columns,
                   double gain) {
  std::vector<Value*> levels;
  for (size_t i = 0; i < found.size(); ++i) {
    const Feature& x = found[i];
    const ConvSpec spec = {.outputs = kAspects[i] * columns, .kernel = 3, .pad = 1, .bias = true};
    // The first map is scaled to a norm of 20 over 512 channels.
    const Init init = Init::normal(gain / std::sqrt(9.0 * static_cast<double>(x.channels)));
    Value* v = conv(b, s.child(fmt::format("module_list.{}", i)), x, spec, init, Init::normal(0.05)).value;
    v = reshape(b, s, v, {-1, kAspects[i], columns, x.height, x.width});
    levels.push_back(
        reshape(b, s, transpose(b, s, v, {0, 3, 4, 1, 2}), {-1, x.height * x.width * kAspects[i], columns}));
  }
  return concat(b, s, levels, 1);
}

/// Centre and extent of the default boxes in shares of the image, each [kCells, 2].
std::pair<Tensor, Tensor> default_boxes(const std::vector<Feature>& found) {
  constexpr double kScales[] = {0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05};
  std::vector<float> centres, extents;
  for (size_t level = 0; level < found.size(); ++level) {
    std::vector<std::pair<double, double>> shapes = {{kScales[level], kScales[level]}};
    const double between = std::sqrt(kScales[level] * kScales[level + 1]);
    shapes.emplace_back(between, between);
    for (int64_t ratio = 2; static_cast<int64_t>(shapes.size()) < kAspects[level]; ++ratio) {
      const double root = std::sqrt(static_cast<double>(ratio));
      shapes.emplace_back(kScales[level] * root, kScales[level] / root);
      shapes.emplace_back(kScales[level] / root, kScales[level] * root);
    }
    const Feature& x = found[level];
    for (int64_t i = 0; i < x.height * x.width; ++i)
      for (const auto& [width, height] : shapes) {
        centres.push_back(
            static_cast<float>((static_cast<double>(i % x.width) + 0.5) / static_cast<double>(x.width)));
        centres.push_back(
            static_cast<float>((static_cast<double>(i / x.width) + 0.5) / static_cast<double>(x.height)));
        extents.push_back(static_cast<float>(width));
        extents.push_back(static_cast<float>(height));
      }
  }
  return {Tensor::from({kCells, 2}, centres), Tensor::from({kCells, 2}, extents)};
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "ssd300_vgg16");
  const Scope head = Scope().child("head"), post = Scope().child("postprocess");
  const std::vector<Feature> found = maps(b, image_input(b, "images", 3, kExtent, kExtent));
  Value* logits = predictions(b, head.child("classification_head"), found, kClasses, 1.5);
  Value* deltas = predictions(b, head.child("regression_head"), found, 4, 1.0);
  auto [centres, extents] = default_boxes(found);
  const std::vector<Value*> parts = split(b, post, deltas, 2, {2, 2});
  Value* size = b.constant(post, std::move(extents));
  Value* centre = b.node(post, "Mul", {b.node(post, "Mul", {parts[0], b.scalar(post, 0.1F)}), size});
  centre = b.node(post, "Add", {centre, b.constant(post, std::move(centres))});
  Value* half = b.node(post, "Exp", {b.node(post, "Mul", {parts[1], b.scalar(post, 0.2F)})});
  half = b.node(post, "Mul", {b.node(post, "Mul", {half, size}), b.scalar(post, 0.5F)});
  Value* corners =
      concat(b, post, {b.node(post, "Sub", {centre, half}), b.node(post, "Add", {centre, half})}, 2);
  corners = b.node(post, "Mul", {corners, b.scalar(post, kExtent)});
  Value* boxes = b.node(post, "Clip", {corners, b.scalar(post, 0), b.scalar(post, kExtent)});
  Value* scores = transpose(b, post, softmax(b, post, logits), {0, 2, 1});
  scores = slice(b, post, scores, 1, 1, kClasses);  // class 0 is the background
  const auto limit = [&](float v) { return b.constant(post, Tensor::vector(std::vector<float>{v})); };
  Value* kept =
      b.node(post, "NonMaxSuppression", {boxes, scores, b.ints(post, {200}), limit(0.45F), limit(0.1F)});
  const auto columns = [&](const std::vector<int64_t>& which) {
    return b.node(post, "Gather", {kept, b.ints(post, which)}, {{"axis", int64_t{1}}});
  };
  b.output(b.node(post, "GatherND", {boxes, columns({0, 2})}), "boxes", DType::kFloat32, {Dim(), 4});
  b.output(b.node(post, "GatherND", {scores, kept}), "scores", DType::kFloat32, {Dim()});
  b.output(reshape(b, post, columns({1}), {-1}), "labels", DType::kInt64, {Dim()});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "ssd300-vgg16",
    .summary = "object detector, 300x300, with NonMaxSuppression (Liu et al., 2016)",
    .build = build};

}  // namespace assay::template_ssd300_vgg16
