// The MNIST network.
#include "templates/mnist.h"
#include "templates/template_list.h"

namespace assay::template_mnist_cnn {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_mnist(options, "mnist_cnn", MnistTail::kDigits);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mnist-cnn",
    .summary = "digit classifier: two 5x5 convolutions and two dense layers (after LeCun et al., 1998)",
    .build = build};

}  // namespace assay::template_mnist_cnn
