// A convolutional variational autoencoder for 64x64 images as in PyTorch-VAE (Subramanian, 2020), whose
// decoder has transposed convolutions; the noise is an input.
#include <cmath>

#include "templates/conv_net.h"
#include "templates/layers.h"
#include "templates/template_list.h"

namespace assay::template_vae {
namespace {

constexpr int64_t kExtent = 64, kLatent = 128;
constexpr int64_t kWidths[] = {32, 64, 128, 256, 512};

Feature norm_leaky(TemplateBuilder& b, const Scope& s, const Feature& x) {
  return activate(b, s.item(2), batch_norm(b, s.item(1), x, kActivatedNorm), Nonlinearity::kLeakyRelu);
}

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "vae");
  const Scope root, encoder = root.child("encoder"), decoder = root.child("decoder"),
                    last = root.child("final_layer");
  Feature x = image_input(b, "input", 3, kExtent, kExtent);
  Value* noise = b.input("noise", DType::kFloat32, {b.batch(), kLatent});
  int i = 0;
  for (const int64_t width : kWidths) {
    const Scope s = encoder.item(i++);
    x = norm_leaky(
        b, s, conv(b, s.item(0), x, {.outputs = width, .kernel = 3, .stride = 2, .pad = 1, .bias = true}));
  }
  const int64_t cells = x.height * x.width, features = x.channels * cells;
  Value* flat = b.node(root, "Flatten", {x.value}, {{"axis", int64_t{1}}});
  Value* mean =
      fully_connected(b, root.child("fc_mu"), flat, features, kLatent, Init::lecun_normal(features));
  Value* log_variance = fully_connected(b, root.child("fc_var"), flat, features, kLatent,
                                        Init::normal(0.1 / std::sqrt(static_cast<double>(features))));
  Value* deviation = b.node(root, "Exp", {b.node(root, "Mul", {log_variance, b.scalar(root, 0.5F)})});
  Value* latent = b.node(root, "Add", {b.node(root, "Mul", {noise, deviation}), mean});
  Value* y =
      fully_connected(b, root.child("decoder_input"), latent, kLatent, features, Init::lecun_normal(kLatent));
  x = {reshape(b, root, y, {-1, x.channels, x.height, x.width}), x.channels, x.height, x.width, {}, {}};
  if (b.has_weights())
    x.moments = {std::vector<float>(static_cast<size_t>(x.channels), 0),
                 std::vector<float>(static_cast<size_t>(x.channels), 1)};
  for (i = 3; i >= 0; --i) {
    const Scope s = decoder.item(3 - i);
    x = norm_leaky(b, s, conv_transpose_3x3(b, s.item(0), x, kWidths[i]));
  }
  x = norm_leaky(b, last, conv_transpose_3x3(b, last.item(0), x, x.channels));
  x = conv(b, last.item(3), x, {.outputs = 3, .kernel = 3, .pad = 1, .bias = true});
  x = activate(b, last.item(4), x, Nonlinearity::kTanh);
  b.output(x.value, "output", DType::kFloat32, {b.batch(), 3, kExtent, kExtent});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "vae",
    .summary = "autoencoder of 64x64 images with transposed convolutions (after Subramanian, 2020)",
    .build = build};

}  // namespace assay::template_vae
