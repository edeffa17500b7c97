// HiFi-GAN V1: 32 frames of 80 bands to 8192 samples.
#include "templates/hifi_gan.h"
#include "templates/template_list.h"

namespace assay::template_hifigan_v1 {
namespace {

constexpr int64_t kBands = 80, kFrames = 32, kHop = 256;

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "hifigan_v1");
  Value* mel = b.input("mel", DType::kFloat32, {b.batch(), kBands, kFrames});
  const HifiGanSpec spec = {.inputs = kBands,
                            .channels = 512,
                            .upsampling = {{8, 16}, {8, 16}, {2, 4}, {2, 4}},
                            .blocks = {{3, {1, 3, 5}}, {7, {1, 3, 5}}, {11, {1, 3, 5}}}};
  b.output(hifi_gan(b, Scope(), mel, spec), "audio", DType::kFloat32, {b.batch(), 1, kFrames * kHop});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "hifigan-v1",
    .summary = "vocoder: transposed and dilated 1-D convolutions, 32 frames (Kong et al., 2020)",
    .build = build};

}  // namespace assay::template_hifigan_v1
