// The MNIST network, with shape arithmetic.
#include "templates/mnist.h"
#include "templates/template_list.h"

namespace assay::template_mnist_shapes {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) {
  return build_mnist(options, "mnist_shapes", MnistTail::kShapes);
}

}  // namespace

constinit const ModelTemplate def = {
    .name = "mnist-shapes", .summary = "mnist-cnn with shape arithmetic at every turn", .build = build};

}  // namespace assay::template_mnist_shapes
