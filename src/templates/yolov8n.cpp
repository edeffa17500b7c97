// YOLOv8n (Jocher et al., Ultralytics, 2023) with its detection head.
#include "templates/template_list.h"
#include "templates/yolo.h"

namespace assay::template_yolov8n {
namespace {

/// Bottlenecks of two 3x3 convolutions.
Feature c2f(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int bottlenecks,
            bool residual) {
  return yolo_c2f(b, s, x, outputs, outputs / 2, bottlenecks, [&](const Scope& m, const Feature& y) {
    return yolo_bottleneck(b, m, y, {.hidden = outputs / 2, .residual = residual});
  });
}

/// Layers 0 to 21: the three maps of the head, finest first.
std::vector<Feature> backbone_and_neck(TemplateBuilder& b, Feature x) {
  x = yolo_conv(b, yolo_layer(0), x, 16, 3, 2);
  x = yolo_conv(b, yolo_layer(1), x, 32, 3, 2);
  x = c2f(b, yolo_layer(2), x, 32, 1, true);
  x = yolo_conv(b, yolo_layer(3), x, 64, 3, 2);
  const Feature p3 = c2f(b, yolo_layer(4), x, 64, 2, true);
  x = yolo_conv(b, yolo_layer(5), p3, 128, 3, 2);
  const Feature p4 = c2f(b, yolo_layer(6), x, 128, 2, true);
  x = yolo_conv(b, yolo_layer(7), p4, 256, 3, 2);
  x = c2f(b, yolo_layer(8), x, 256, 1, true);
  const Feature p5 = yolo_sppf(b, yolo_layer(9), x, 256);

  x = concat(b, yolo_layer(11), {upsample_2x(b, yolo_layer(10), p5), p4});
  const Feature middle = c2f(b, yolo_layer(12), x, 128, 1, false);
  x = concat(b, yolo_layer(14), {upsample_2x(b, yolo_layer(13), middle), p3});
  const Feature fine = c2f(b, yolo_layer(15), x, 64, 1, false);
  x = concat(b, yolo_layer(17), {yolo_conv(b, yolo_layer(16), fine, 64, 3, 2), middle});
  const Feature medium = c2f(b, yolo_layer(18), x, 128, 1, false);
  x = concat(b, yolo_layer(20), {yolo_conv(b, yolo_layer(19), medium, 128, 3, 2), p5});
  return {fine, medium, c2f(b, yolo_layer(21), x, 256, 1, false)};
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "yolov8n");
  const std::vector<Feature> maps =
      backbone_and_neck(b, image_input(b, "images", 3, kYoloExtent, kYoloExtent));
  yolo_detect(b, yolo_layer(22), maps, [&](const Scope& s, const Feature& x) {
    return yolo_conv(b, s.item(1), yolo_conv(b, s.item(0), x, kYoloClasses, 3), kYoloClasses, 3);
  });
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {.name = "yolov8n",
                                     .summary = "object detector, 640x640, boxes decoded (Ultralytics, 2023)",
                                     .build = build};

}  // namespace assay::template_yolov8n
