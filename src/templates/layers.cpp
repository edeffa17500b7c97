#include "templates/layers.h"

#include <cmath>

namespace assay {

using Ints = std::vector<int64_t>;

Value* unsqueeze(TemplateBuilder& b, const Scope& s, Value* x, const Ints& axes) {
  if (b.opset() < 13) return b.node(s, "Unsqueeze", {x}, {{"axes", axes}});
  return b.node(s, "Unsqueeze", {x, b.ints(s, axes)});
}

std::vector<Value*> split(TemplateBuilder& b, const Scope& s, Value* x, int64_t axis, const Ints& extents) {
  const int parts = static_cast<int>(extents.size());
  if (b.opset() < 13)
    return b.node_with_outputs(s, "Split", {x}, {{"axis", axis}, {"split", extents}}, parts);
  return b.node_with_outputs(s, "Split", {x, b.ints(s, extents)}, {{"axis", axis}}, parts);
}

Value* slice(TemplateBuilder& b, const Scope& s, Value* x, int64_t axis, int64_t first, int64_t last) {
  return b.node(s, "Slice", {x, b.ints(s, {first}), b.ints(s, {last}), b.ints(s, {axis})});
}

Value* reshape(TemplateBuilder& b, const Scope& s, Value* x, const Ints& shape) {
  return b.node(s, "Reshape", {x, b.ints(s, shape)});
}

Value* transpose(TemplateBuilder& b, const Scope& s, Value* x, const Ints& permutation) {
  return b.node(s, "Transpose", {x}, {{"perm", permutation}});
}

Value* softmax(TemplateBuilder& b, const Scope& s, Value* x) {
  return b.node(s, "Softmax", {x}, {{"axis", int64_t{-1}}});
}

Value* reduce(TemplateBuilder& b, const Scope& s, std::string_view op_type, Value* x, const Ints& axes,
              bool keep) {
  const int64_t axes_are_an_input = op_type == "ReduceSum" ? 13 : 18;
  if (b.opset() >= axes_are_an_input)
    return b.node(s, op_type, {x, b.ints(s, axes)}, {{"keepdims", int64_t{keep}}});
  return b.node(s, op_type, {x}, {{"axes", axes}, {"keepdims", int64_t{keep}}});
}

Value* reduce_mean(TemplateBuilder& b, const Scope& s, Value* x, const Ints& axes) {
  return reduce(b, s, "ReduceMean", x, axes);
}

Value* extent(TemplateBuilder& b, const Scope& s, Value* x, int64_t axis) {
  Value* shape = b.node(s, "Shape", {x});
  Value* one = b.node(s, "Gather", {shape, b.constant(s, Tensor::scalar(axis))}, {{"axis", int64_t{0}}});
  return unsqueeze(b, s, one, {0});
}

Value* reshape_to(TemplateBuilder& b, const Scope& s, Value* x, const std::vector<Value*>& parts) {
  return b.node(s, "Reshape", {x, concat(b, s, parts, 0)});
}

Value* pick(TemplateBuilder& b, const Scope& s, Value* x, int64_t axis, int64_t i) {
  return b.node(s, "Gather", {x, b.constant(s, Tensor::scalar(i))}, {{"axis", axis}});
}

Value* concat(TemplateBuilder& b, const Scope& s, const std::vector<Value*>& parts, int64_t axis) {
  return b.node(s, "Concat", parts, {{"axis", axis}});
}

Value* silu(TemplateBuilder& b, const Scope& s, Value* x) {
  return b.node(s, "Mul", {x, b.node(s, "Sigmoid", {x})});
}

Value* layer_norm(TemplateBuilder& b, const Scope& s, Value* x, int64_t width, float epsilon) {
  Value* weight = b.weight(s, "weight", {width}, Init::normal(0.1, 1.0));
  Value* bias = b.weight(s, "bias", {width}, Init::normal(0.05));
  return layer_norm(b, s, x, weight, bias, epsilon);
}

Value* layer_norm(TemplateBuilder& b, const Scope& s, Value* x, Value* weight, Value* bias, float epsilon) {
  if (b.opset() >= 17 && !b.style().decomposes)
    return b.node(s, "LayerNormalization", {x, weight, bias}, {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  Value* centred = b.node(s, "Sub", {x, reduce_mean(b, s, x, {-1})});
  Value* squared = b.node(s, "Pow", {centred, b.scalar(s, 2)});
  Value* variance = b.node(s, "Add", {reduce_mean(b, s, squared, {-1}), b.scalar(s, epsilon)});
  Value* normal = b.node(s, "Div", {centred, b.node(s, "Sqrt", {variance})});
  return b.node(s, "Add", {b.node(s, "Mul", {normal, weight}), bias});
}

Value* gelu(TemplateBuilder& b, const Scope& s, Value* x) {
  if (b.opset() >= 20 && !b.style().decomposes) return b.node(s, "Gelu", {x});
  Value* erf = b.node(s, "Erf", {b.node(s, "Div", {x, b.scalar(s, static_cast<float>(std::sqrt(2.0)))})});
  Value* doubled = b.node(s, "Mul", {x, b.node(s, "Add", {erf, b.scalar(s, 1)})});
  return b.node(s, "Mul", {doubled, b.scalar(s, 0.5F)});
}

Value* gelu_tanh(TemplateBuilder& b, const Scope& s, Value* x) {
  if (b.opset() >= 20 && !b.style().decomposes)
    return b.node(s, "Gelu", {x}, {{"approximate", std::string("tanh")}});
  constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
  Value* half = b.node(s, "Mul", {x, b.scalar(s, 0.5F)});
  Value* cube = b.node(s, "Mul", {b.node(s, "Pow", {x, b.scalar(s, 3)}), b.scalar(s, 0.044715F)});
  Value* argument =
      b.node(s, "Mul", {b.node(s, "Add", {x, cube}), b.scalar(s, static_cast<float>(kSqrtTwoOverPi))});
  Value* factor = b.node(s, "Add", {b.node(s, "Tanh", {argument}), b.scalar(s, 1)});
  return b.node(s, "Mul", {half, factor});
}

Value* linear(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
              const Init& init) {
  Value* product = b.node(s, "MatMul", {x, b.weight(s, "weight", {inputs, outputs}, init)});
  return b.node(s, "Add", {b.weight(s, "bias", {outputs}, Init::normal(0.02)), product});
}

Value* product(TemplateBuilder& b, const Scope& s, Value* x, int64_t inputs, int64_t outputs,
               const Init& init) {
  return b.node(s, "MatMul", {x, b.weight(s, "weight", {inputs, outputs}, init)});
}

Value* attend(TemplateBuilder& b, const Scope& s, const Heads& heads, Value* query, Value* key, Value* value,
              Value* bias) {
  Value* scale = b.scalar(s, 1 / std::sqrt(static_cast<float>(heads.width)));
  Value* scores = b.node(s, "MatMul", {b.node(s, "Mul", {query, scale}), transpose(b, s, key, {0, 1, 3, 2})});
  if (bias != nullptr) scores = b.node(s, "Add", {scores, bias});
  return merge_heads(b, s, b.node(s, "MatMul", {softmax(b, s, scores), value}), heads.count, heads.width);
}

Value* split_heads(TemplateBuilder& b, const Scope& s, Value* x, int64_t heads, int64_t width) {
  return transpose(b, s, reshape(b, s, x, {0, 0, heads, width}), {0, 2, 1, 3});
}

Value* merge_heads(TemplateBuilder& b, const Scope& s, Value* x, int64_t heads, int64_t width) {
  return reshape(b, s, transpose(b, s, x, {0, 2, 1, 3}), {0, 0, heads * width});
}

}  // namespace assay
