// YOLO11n (Jocher and Qiu, Ultralytics, 2024) with its detection head: attention on the coarsest map,
// depthwise convolutions in the head.
#include "templates/layers.h"
#include "templates/template_list.h"
#include "templates/yolo.h"

namespace assay::template_yolo11n {
namespace {

/// C3k2: the inner block is a bottleneck, or two of them inside a C3.
Feature c3k2(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, bool is_deep,
             int64_t divisor = 2) {
  const int64_t hidden = outputs / divisor;
  return yolo_c2f(b, s, x, outputs, hidden, 1, [&](const Scope& m, const Feature& y) {
    if (is_deep) return yolo_c3(b, m, y, hidden, 2, 3, true);
    return yolo_bottleneck(b, m, y, {.hidden = hidden / 2});
  });
}

/// Attention over the cells of a map, with a depthwise convolution of the values as position.
Feature attention(TemplateBuilder& b, const Scope& s, const Feature& x) {
  constexpr int64_t kHeadWidth = 64, kKeyWidth = 32;
  const int64_t heads = x.channels / kHeadWidth, cells = x.height * x.width;
  Value* qkv = yolo_linear_conv(b, s.child("qkv"), x, x.channels + 2 * heads * kKeyWidth, 1).value;
  qkv = reshape(b, s, qkv, {-1, heads, 2 * kKeyWidth + kHeadWidth, cells});
  const std::vector<Value*> parts = split(b, s, qkv, 2, {kKeyWidth, kKeyWidth, kHeadWidth});
  Value* scores = b.node(s, "MatMul", {transpose(b, s, parts[0], {0, 1, 3, 2}), parts[1]});
  scores = softmax(b, s, b.node(s, "Mul", {scores, b.scalar(s, 0.17677669F)}));  // 1 / sqrt(kKeyWidth)
  Value* mixed = b.node(s, "MatMul", {parts[2], transpose(b, s, scores, {0, 1, 3, 2})});
  const auto as_map = [&](Value* v) { return reshape(b, s, v, {-1, x.channels, x.height, x.width}); };
  Feature values = x;
  values.value = as_map(parts[2]);
  Feature y = yolo_linear_conv(b, s.child("pe"), values, x.channels, 3, true);
  y.value = b.node(s, "Add", {as_map(mixed), y.value});
  return yolo_linear_conv(b, s.child("proj"), y, x.channels, 1);
}

/// C2PSA: attention and a network on half of the channels.
Feature c2psa(TemplateBuilder& b, const Scope& s, const Feature& x) {
  const std::vector<Feature> parts = split_channels(b, s, yolo_conv(b, s.child("cv1"), x, x.channels, 1), 2);
  const Scope m = s.child("m").item(0), ffn = m.child("ffn");
  const int64_t half = x.channels / 2;
  Feature y = add(b, m, parts[1], attention(b, m.child("attn"), parts[1]));
  const Feature z = yolo_conv(b, ffn.item(0), y, 2 * half, 1);
  y = add(b, m, y, yolo_linear_conv(b, ffn.item(1), z, half, 1));
  return yolo_conv(b, s.child("cv2"), concat(b, s, {parts[0], y}), x.channels, 1);
}

std::vector<Feature> backbone_and_neck(TemplateBuilder& b, Feature x) {
  x = yolo_conv(b, yolo_layer(0), x, 16, 3, 2);
  x = yolo_conv(b, yolo_layer(1), x, 32, 3, 2);
  x = c3k2(b, yolo_layer(2), x, 64, false, 4);
  x = yolo_conv(b, yolo_layer(3), x, 64, 3, 2);
  const Feature p3 = c3k2(b, yolo_layer(4), x, 128, false, 4);
  x = yolo_conv(b, yolo_layer(5), p3, 128, 3, 2);
  const Feature p4 = c3k2(b, yolo_layer(6), x, 128, true);
  x = yolo_conv(b, yolo_layer(7), p4, 256, 3, 2);
  x = c3k2(b, yolo_layer(8), x, 256, true);
  const Feature p5 = c2psa(b, yolo_layer(10), yolo_sppf(b, yolo_layer(9), x, 256));

  x = concat(b, yolo_layer(12), {upsample_2x(b, yolo_layer(11), p5), p4});
  const Feature middle = c3k2(b, yolo_layer(13), x, 128, false);
  x = concat(b, yolo_layer(15), {upsample_2x(b, yolo_layer(14), middle), p3});
  const Feature fine = c3k2(b, yolo_layer(16), x, 64, false);
  x = concat(b, yolo_layer(18), {yolo_conv(b, yolo_layer(17), fine, 64, 3, 2), middle});
  const Feature medium = c3k2(b, yolo_layer(19), x, 128, false);
  x = concat(b, yolo_layer(21), {yolo_conv(b, yolo_layer(20), medium, 128, 3, 2), p5});
  return {fine, medium, c3k2(b, yolo_layer(22), x, 256, true)};
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "yolo11n");
  const std::vector<Feature> maps =
      backbone_and_neck(b, image_input(b, "images", 3, kYoloExtent, kYoloExtent));
  yolo_detect(b, yolo_layer(23), maps, [&](const Scope& s, const Feature& x) {
    Feature y = x;
    for (int i = 0; i < 2; ++i) {
      y = yolo_conv(b, s.item(i).child("0"), y, y.channels, 3, 1, true);
      y = yolo_conv(b, s.item(i).child("1"), y, kYoloClasses, 1);
    }
    return y;
  });
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "yolo11n",
    .summary = "object detector, 640x640: attention, depthwise head, boxes decoded (Ultralytics, 2024)",
    .build = build};

}  // namespace assay::template_yolo11n
