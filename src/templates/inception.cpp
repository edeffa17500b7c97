#include "templates/inception.h"

namespace assay {

Feature inception_conv(TemplateBuilder& b, const Scope& s, const Feature& x, const ConvSpec& spec) {
  return relu(b, s, conv_norm(b, s.child("conv"), s.child("bn"), x, spec, kInceptionNorm));
}

ConvSpec same_conv(int64_t outputs, int64_t height, int64_t width) {
  return {.outputs = outputs,
          .kernel = height,
          .pad = height / 2,
          .kernel_width = width,
          .stride_width = 1,
          .pad_width = width / 2};
}

ConvSpec valid_conv(int64_t outputs, int64_t stride) {
  return {.outputs = outputs, .kernel = 3, .stride = stride};
}

Feature inception_chain(TemplateBuilder& b, const Scope& s, Feature x,
                        std::initializer_list<NamedConv> convs) {
  for (const NamedConv& c : convs) x = inception_conv(b, s.child(c.name), x, c.spec);
  return x;
}

void inception_head(TemplateBuilder& b, const Scope& pool, const Scope& fc, const Feature& x) {
  constexpr int64_t kClasses = 1000;
  Value* pooled = global_average(b, pool, Scope(), x);
  Value* logits = fully_connected(b, fc, pooled, x.channels, kClasses, Init::lecun_normal(x.channels));
  b.output(logits, "output", DType::kFloat32, {b.batch(), kClasses});
}

}  // namespace assay
