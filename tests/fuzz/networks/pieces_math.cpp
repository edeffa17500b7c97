// Functions of single elements, in float32 and through other types.
#include <cmath>

#include "assay/edit.h"
#include "fuzz/networks/growing_network.h"
#include "tensor/convert.h"

namespace assay::fuzz::pieces_of {
namespace {

/// A shape that broadcasts to this one.
Shape narrower(GrowingNetwork& g, const Shape& s) {
  Shape shape;
  for (int i = g.r.chance(50) ? 0 : static_cast<int>(g.r.between(0, s.rank())); i < s.rank(); ++i)
    shape.push_back(g.r.chance(50) ? 1 : s[i]);
  return shape;
}

Value* cast(GrowingNetwork& g, Value* x, DType to) {
  return g.op("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

/// ONNX does not say which integer NaN becomes: here 0 stands for it.
Value* without_nan(GrowingNetwork& g, Value* x) {
  return g.op("Where", {g.op("IsNaN", {x}), g.number(0), x});
}

/// Whole numbers from -100 to 100 as a small integer; what is none becomes 0.
Value* whole(GrowingNetwork& g, Value* x, DType to) {
  x = without_nan(g, x);
  x = g.op("Clip", {x, g.number(is_signed_integer(to) ? -100 : 0), g.number(100)});
  return cast(g, x, to);
}

}  // namespace

void unary(GrowingNetwork& g) {
  Value* x = g.pick();
  switch (g.r.below(8)) {
    case 0:
      return g.hand_on(g.op("Mul", {x, g.op("Sigmoid", {x})}));
    case 1:
      return g.hand_on(g.op("Gelu", {x}, {{"approximate", std::string(g.r.one_of({"none", "tanh"}))}}));
    case 2: {  // as exporters decompose it
      Value* erf = g.op("Erf", {g.op("Div", {x, g.number(std::sqrt(2.0))})});
      return g.hand_on(g.op("Mul", {g.op("Mul", {x, g.op("Add", {erf, g.number(1)})}), g.number(0.5)}));
    }
    case 3:
      return g.hand_on(
          g.op("Clip", {x, g.number(g.r.one_of({0.0, -1.5})), g.number(g.r.one_of({6.0, 0.5}))}));
    case 4:
      return g.hand_on(g.op("Sqrt", {g.op("Abs", {x})}));
    case 5:
      return g.hand_on(g.op("Mul", {x, g.op("Tanh", {g.op("Softplus", {x})})}));
    default:
      return g.hand_on(
          g.op(g.r.one_of({"Relu", "Relu", "Sigmoid",   "Tanh",        "Exp",        "Erf",
                           "Neg",  "Abs",  "HardSwish", "HardSigmoid", "Mish",       "Softplus",
                           "Elu",  "Selu", "Celu",      "LeakyRelu",   "Softsign",   "ThresholdedRelu",
                           "Sin",  "Cos",  "Atan",      "Asinh",       "Reciprocal", "Sign"}),
               {x}));
  }
}

void binary(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  const std::string type = g.r.one_of({"Add", "Add", "Mul", "Sub", "Max", "Min", "Div", "PRelu", "Pow"});
  if (type == "Div") return g.hand_on(g.op(type, {x, g.weight(narrower(g, in), 0.5, 2)}));
  if (type == "PRelu") return g.hand_on(g.op(type, {x, g.weight(narrower(g, in))}));
  if (type == "Pow") return g.hand_on(g.op(type, {x, g.number(g.r.one_of({2.0, 3.0, 0.5}))}));
  Value* other = g.r.chance(60) ? g.pick_like(*x) : nullptr;
  if (other == nullptr) other = g.weight(narrower(g, in));
  if (g.r.chance(30)) std::swap(x, other);
  g.hand_on(g.op(type, {x, other}));
}

void where(GrowingNetwork& g) {
  Value* x = g.pick();
  Value* other = g.pick_like(*x);
  if (other == nullptr) other = g.weight(narrower(g, GrowingNetwork::shape(*x)));
  Value* condition =
      g.op(g.r.one_of({"Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"}), {x, g.number(0.1)});
  if (g.r.chance(40)) condition = g.op("Or", {g.op("Not", {condition}), g.op("IsNaN", {x})});
  g.hand_on(g.op("Where", {condition, x, other}));
}

void integers_between(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  const DType type = g.r.one_of({DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32,
                                 DType::kUInt32, DType::kInt64, DType::kUInt64});
  Value* y = whole(g, x, type);
  Value* other = g.model->graph->add_constant(
      g.model->graph->unique_name("k"), convert(g.weight(narrower(g, in), 1, 9)->tensor().aligned(), type));
  y = g.op(g.r.one_of({"Add", "Sub", "Mul", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Max", "Min"}),
           {y, other});
  if (g.r.chance(40)) y = g.op("Where", {g.op("Greater", {y, other}), other, y});
  if (g.r.chance(20) && in.rank() > 0 && in.numel() > 0 && (type == DType::kInt32 || type == DType::kInt64))
    y = g.op("ReduceSum", {y, g.ints({static_cast<int64_t>(g.r.below(in.rank()))})});
  g.hand_on(cast(g, y, DType::kFloat32));
}

/// Operators without a kernel (docs/reference/engine-operators.md): the value is a tensor of its own.
void plainly(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  switch (g.r.below(4)) {
    case 0:
      if (in.rank() == 0 || in.numel() == 0) return;
      return g.hand_on(g.op("ReduceProd", {x, g.ints({-1})}));
    case 1:
      return g.hand_on(g.op("Shrink", {x}, {{"bias", 0.5F}, {"lambd", 0.25F}}));
    case 2:
      if (in.rank() < 3 || in.rank() > 5 || in.numel() == 0) return;
      return g.hand_on(g.op("GlobalLpPool", {x}));
    default:
      if (in.rank() < 2 || in[in.rank() - 1] != in[in.rank() - 2] || in[in.rank() - 1] == 0) return;
      return g.hand_on(g.op("Det", {x}));
  }
}

/// Products of quantized values, as ONNX Runtime's quantizers write them.
void integer_product(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (in.rank() < 2 || in.numel() == 0) return;
  const std::vector<Value*> q = g.ops("DynamicQuantizeLinear", {without_nan(g, x)}, 3);
  const Tensor levels =
      convert(g.weight({in[in.rank() - 1], g.extent()}, -100, 100)->tensor().aligned(), DType::kInt8);
  Value* w = g.model->graph->add_constant(g.model->graph->unique_name("k"), levels);
  Value* y = cast(g, g.op("MatMulInteger", {q[0], w, q[2]}), DType::kFloat32);
  g.hand_on(g.op("Mul", {y, g.op("Mul", {q[1], g.number(0.01)})}));
}

void bytes_between(GrowingNetwork& g) {
  Value* x = g.pick();
  const Shape in = GrowingNetwork::shape(*x);
  if (g.r.chance(40) && in.numel() > 0) {
    const std::vector<Value*> q = g.ops("DynamicQuantizeLinear", {without_nan(g, x)}, 3);
    return g.hand_on(g.op("DequantizeLinear", q));
  }
  Value* zero =
      g.model->graph->add_constant(g.model->graph->unique_name("z"),
                                   g.r.chance(50) ? Tensor::scalar(uint8_t{128}) : Tensor::scalar(int8_t{3}));
  Value* scale = g.number(0.043);
  Value* q = g.op("QuantizeLinear", {without_nan(g, x), scale, zero});
  if (in.rank() == 4 && g.r.chance(40) && in[2] > 1 && in[3] > 1 && in[1] > 0)
    q = g.op("MaxPool", {q}, {{"kernel_shape", GrowingNetwork::Ints{2, 2}}});
  g.hand_on(g.op("DequantizeLinear", {q, scale, zero}));
}

}  // namespace assay::fuzz::pieces_of
