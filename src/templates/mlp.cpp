// The permutation-invariant MNIST network of Srivastava et al., "Dropout: A Simple Way to Prevent Neural
// Networks from Overfitting", 2014: three hidden layers of 1024 with ReLU.
#include "templates/conv_net.h"
#include "templates/template_list.h"

namespace assay::template_mlp {
namespace {

constexpr int64_t kPixels = 784;
constexpr int64_t kHidden = 1024;
constexpr int kHiddenLayers = 3;
constexpr int64_t kClasses = 10;

std::shared_ptr<Model> build(const TemplateOptions& options) {
  TemplateBuilder b(options, "mlp");
  const Scope layers = Scope().child("layers");
  Value* x = b.input("input", DType::kFloat32, {b.batch(), kPixels});
  int64_t width = kPixels;
  for (int i = 0; i < kHiddenLayers; ++i) {
    x = fully_connected(b, layers.item(2 * i), x, width, kHidden, Init::he_normal(width));
    x = b.node(layers.item(2 * i + 1), "Relu", {x});
    width = kHidden;
  }
  x = fully_connected(b, layers.item(2 * kHiddenLayers), x, width, kClasses, Init::lecun_normal(width));
  b.output(x, "output", DType::kFloat32, {b.batch(), kClasses});
  return b.finish();
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mlp",
    .summary = "digit classifier: 784-1024-1024-1024-10, ReLU (Srivastava et al., 2014)",
    .build = build};

}  // namespace assay::template_mlp
