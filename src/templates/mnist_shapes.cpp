// The MNIST network, with shape arithmetic.
#include "templates/mnist.h"
#include "templates/template_list.h"

namespace assay {
namespace {

std::shared_ptr<Model> build(const TemplateOptions& options) { return build_mnist(options, "mnist_shapes", MnistTail::kShapes); }

}  // namespace

constinit const ModelTemplate template_mnist_shapes = {
    .name = "mnist-shapes",
    .summary = "mnist-cnn with shape arithmetic at every turn",
    .build = build};

}  // namespace assay
