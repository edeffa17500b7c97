// Shared parts of the YOLO detectors of Ultralytics (Jocher et al., 2020 to 2024): 640x640, 80 classes, as
// they are exported: batch normalization folded into the convolutions, boxes decoded to pixels.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "templates/conv_net.h"

namespace assay {

inline constexpr int64_t kYoloExtent = 640, kYoloClasses = 80;
/// For the three maps of a head, finest first.
inline constexpr int64_t kYoloStrides[] = {8, 16, 32};

/// model.I
Scope yolo_layer(int i);
/// Convolution, batch normalization, SiLU; same extents at stride 1. One with groups has as many as channels.
Feature yolo_conv(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t kernel,
                  int64_t stride = 1, bool depthwise = false);
/// Without SiLU.
Feature yolo_linear_conv(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs,
                         int64_t kernel, bool depthwise = false);

/// Two convolutions, the first to `hidden` channels, plus the input if `residual`.
struct YoloBottleneck {
  int64_t hidden, first_kernel = 3;
  bool residual = true;
};
Feature yolo_bottleneck(TemplateBuilder& b, const Scope& s, const Feature& x, const YoloBottleneck& spec);
/// Half of `outputs` through bottlenecks, half past them (C3, C3k).
Feature yolo_c3(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int bottlenecks,
                int64_t first_kernel, bool residual);
/// The cross-stage block: the second half of 2 * hidden channels passes successive inner blocks, and all
/// stages are concatenated (C2f, C3k2).
using YoloInner = std::function<Feature(const Scope&, const Feature&)>;
Feature yolo_c2f(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, int64_t hidden,
                 int blocks, const YoloInner& inner);
/// Spatial pyramid: three 5x5 pools in a row, which see 5x5, 9x9 and 13x13.
Feature yolo_sppf(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs);

/// The anchor-free head of versions 8 and later with output `output0`, [batch, 84, cells]; `class_branch`
/// returns the input of a class branch's last convolution, at a scope `cv3.I`.
using YoloBranch = std::function<Feature(const Scope&, const Feature&)>;
void yolo_detect(TemplateBuilder& b, const Scope& head, const std::vector<Feature>& maps,
                 const YoloBranch& class_branch);

}  // namespace assay
