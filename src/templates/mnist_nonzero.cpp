// The MNIST network, with an output of data-dependent extent.
#include "templates/mnist.h"
#include "templates/template_list.h"

namespace assay::template_mnist_nonzero {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_mnist(options, "mnist_nonzero", MnistTail::kNonZero);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mnist-nonzero",
    .summary = "mnist-cnn that also gives where its hidden layer is not 0, by NonZero",
    .build = build};

}  // namespace assay::template_mnist_nonzero
