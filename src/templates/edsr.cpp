// EDSR baseline (Lim et al., "Enhanced Deep Residual Networks for Single Image Super-Resolution", 2017): 16
// residual blocks of 64 channels without normalization, twice as large.
#include <cmath>

#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_edsr {
namespace {

constexpr int64_t kExtent = 96, kWidth = 64;
constexpr int kBlocks = 16;

Feature conv_3x3(TemplateBuilder& b, const Scope& s, const Feature& x, int64_t outputs, double gain = 1) {
  const double deviation = gain / std::sqrt(9.0 * static_cast<double>(x.channels));
  return conv(b, s, x, {.outputs = outputs, .kernel = 3, .pad = 1, .bias = true}, Init::normal(deviation),
              Init::normal(0.05));
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "edsr");
  const Scope root, body = root.child("body"), tail = root.child("tail");
  const Feature head =
      conv_3x3(b, root.child("head").item(0), image_input(b, "input", 3, kExtent, kExtent), kWidth);
  Feature x = head;
  for (int i = 0; i < kBlocks; ++i) {
    const Scope block = body.item(i), layers = block.child("body");
    Feature y = relu(b, layers.item(1), conv_3x3(b, layers.item(0), x, kWidth));
    y = conv_3x3(b, layers.item(2), y, kWidth, 0.7);
    x = add(b, block, y, x);
  }
  x = add(b, root, conv_3x3(b, body.item(kBlocks), x, kWidth), head);
  x = conv_3x3(b, tail.item(0).item(0), x, 4 * kWidth);
  x.value = b.node(tail.item(0).item(1), "DepthToSpace", {x.value},
                   {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}});
  Feature large{x.value, kWidth, 2 * kExtent, 2 * kExtent, {}, {}};
  large = conv_3x3(b, tail.item(1), large, 3);
  b.output(large.value, "output", DType::kFloat32, {b.batch(), 3, 2 * kExtent, 2 * kExtent});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "edsr",
    .summary = "super-resolution by 2 of 96x96, 16 residual blocks (Lim et al., 2017)",
    .build = build};

}  // namespace assay::template_edsr
