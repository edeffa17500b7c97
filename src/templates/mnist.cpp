#include "templates/mnist.h"

#include "templates/conv_net.h"
#include "templates/layers.h"

namespace assay {
namespace {

constexpr int64_t kHidden = 1024, kClasses = 10;

/// [batch, the product of the others], by arithmetic on shapes.
Value* flatten_by_shapes(TemplateBuilder& b, const Scope& s, Value* x) {
  Value* pixels = b.node(s, "Mul", {extent(b, s, x, 2), extent(b, s, x, 3)});
  Value* features = b.node(s, "Mul", {extent(b, s, x, 1), pixels});
  Value* shape = b.node(s, "Concat", {extent(b, s, x, 0), features}, {{"axis", int64_t{0}}});
  return b.node(s, "Reshape", {x, shape});
}

/// The same values through [batch, height * width, channels] and back.
Value* there_and_back(TemplateBuilder& b, const Scope& s, Value* x) {
  Value* pixels = b.node(s, "Mul", {extent(b, s, x, 2), extent(b, s, x, 3)});
  Value* rows = b.node(s, "Concat", {extent(b, s, x, 0), extent(b, s, x, 1), pixels}, {{"axis", int64_t{0}}});
  Value* y = transpose(b, s, b.node(s, "Reshape", {x, rows}), {0, 2, 1});
  return b.node(s, "Reshape", {transpose(b, s, y, {0, 2, 1}), b.node(s, "Shape", {x})});
}

}  // namespace

std::shared_ptr<Model> build_mnist(const TemplateOptions& options, std::string name, MnistTail tail) {
  TemplateBuilder b(options, std::move(name));
  const Scope root;
  Feature x = image_input(b, "tensor-0", 1, 28, 28);
  const auto block = [&](const char* conv_name, const char* relu_name, const char* pool_name,
                         int64_t outputs) {
    x = conv(b, root.child(conv_name), x, {.outputs = outputs, .kernel = 5, .pad = 2, .bias = true});
    x = relu(b, root.child(relu_name), x);
    x = max_pool(b, root.child(pool_name), x, {.kernel = 2, .stride = 2, .pad = 0});
  };
  block("conv1", "relu1", "pool1", 32);
  block("conv2", "relu2", "pool2", 64);
  const int64_t features = x.channels * x.height * x.width;
  Value* y = x.value;
  if (tail == MnistTail::kShapes)
    y = flatten_by_shapes(b, root.child("flatten"), there_and_back(b, root.child("rows"), y));
  else
    y = reshape(b, root.child("flatten"), y, {-1, features});
  y = fully_connected(b, root.child("fc1"), y, features, kHidden, Init::he_normal(features));
  Value* hidden = b.node(root.child("relu3"), "Relu", {y});
  Value* logits =
      fully_connected(b, root.child("fc2"), hidden, kHidden, kClasses, Init::lecun_normal(kHidden));
  b.output(softmax(b, root.child("softmax"), logits), "y", DType::kFloat32, {b.batch(), kClasses});
  b.output(b.node(root.child("argmax"), "ArgMax", {logits}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}),
           "z", DType::kInt64, {b.batch()});
  if (tail == MnistTail::kNonZero)
    b.output(b.node(root.child("nonzero"), "NonZero", {hidden}), "places", DType::kInt64, {Dim(2), Dim()});
  return b.finish();
}

}  // namespace assay
