// Constants, and the arithmetic of shapes.
#include "fuzz/passes/drawn.h"

namespace assay::fuzz {
namespace {

/// A list of extents put together as exporters do it; it stands for `wanted` where x has that shape.
Value* shape_list(Draft& d, Value* x, const Shape& shape) {
  Value* s = d.node("Shape", {x});
  std::vector<Value*> parts;
  for (size_t a = 0; a < shape.size(); ++a) {
    if (d.chance(35)) {
      parts.push_back(d.ints({d.chance(60) ? shape[a] : -1}));
      continue;
    }
    Value* e = d.node("Gather", {s, d.constant(Tensor::scalar(static_cast<int64_t>(a)))});
    if (d.chance(15))
      e = d.node(d.r.one_of({"Mul", "Div", "Add", "Sub"}),
                 {e, d.constant(Tensor::scalar<int64_t>(d.r.between(1, 2)))});
    parts.push_back(d.node("Unsqueeze", {e, d.ints({0})}));
  }
  return d.node("Concat", parts, {{"axis", int64_t{0}}});
}

void draw_shape_arithmetic(Draft& d) {
  d.opset = d.r.one_of({13, 15, 17});
  const DType t = some_float(d.r);
  const int rank = static_cast<int>(d.r.between(1, 3));
  const Shape shape = d.shape(rank);
  Value* x = d.input(t, shape);
  Value* list = shape_list(d, x, shape);
  if (d.chance(15)) d.output(list);
  if (d.chance(60)) {
    d.output(d.node("Reshape", {x, list}));
  } else {
    Shape small = shape;
    for (size_t a = 0; a < small.size(); ++a)
      if (d.chance(60)) small[a] = 1;
    d.output(d.node("Expand", {d.input(t, small), list}));
  }
  if (d.chance(40)) {
    Value* again = shape_list(d, d.chance(50) ? x : d.node("Neg", {x}), shape);
    if (d.chance(40)) {
      Value* is_open = d.node("Equal", {again, d.ints({d.r.between(-1, 2)})});
      again = d.node("Where", {is_open, d.ints({1}), again});
    }
    d.output(d.node("Add", {d.node("Mul", {again, d.ints({1})}), list}));
  }
}

}  // namespace

void draw_constant_shapes(Draft& d) { draw_shape_arithmetic(d); }
void draw_fold_extents(Draft& d) { draw_shape_arithmetic(d); }

void draw_fold_empty(Draft& d) {
  d.opset = d.r.one_of({13, 15, 17});
  const DType t = some_float(d.r);
  const int64_t rows = d.r.between(0, 1), inner = d.r.between(0, 2), columns = d.r.between(1, 3);
  Value* x = d.input(t, {rows, inner}, Numbers::kAny, d.chance(20));
  Value* y = d.node("MatMul", {d.follow(x), d.constant(t, {inner, columns})});
  if (d.chance(50)) y = d.node(d.r.one_of({"Neg", "Relu", "Abs"}), {y});
  if (d.chance(50)) y = d.node("Concat", {y, d.input(t, {2, columns})}, {{"axis", int64_t{0}}});
  d.output(y);
}

void draw_fold_constants(Draft& d) {
  d.opset = d.r.one_of({9, 13, 17, 21});
  // The fold rounds constants as the stored types do; exact numbers do so only in the end.
  d.closeness = Closeness::kStored;
  const DType t = d.chance(60) ? some_float(d.r) : some_integer(d.r);
  const Shape shape = d.shape(2);
  std::vector<Value*> values;
  for (int i = 0; i < 3; ++i) values.push_back(d.constant(t, d.chance(70) ? shape : Shape{}, Numbers::kAny));
  for (int i = 0; i < 4; ++i) {
    Value *a = d.r.one_of(values), *b = d.r.one_of(values);
    values.push_back(d.chance(50) ? d.node(d.r.one_of({"Add", "Mul", "Sub", "Div", "Max", "Min"}), {a, b})
                                  : d.node(d.r.one_of({"Neg", "Abs", "Identity", "Transpose"}), {a}));
  }
  Value* x = d.input(t, shape);
  d.output(d.node("Add", {x, values.back()}));
  if (d.chance(50)) d.output(d.node("Shape", {x}));
}

void draw_constants_to_initializers(Draft& d) {
  d.opset = d.r.one_of({11, 13, 17});
  const auto constant = [&]() -> Value* {
    switch (d.r.below(5)) {
      case 0:
        return d.node("Constant", {}, {{"value", d.tensor(DType::kFloat32, d.shape(1), Numbers::kAny)}});
      case 1:
        return d.node("Constant", {},
                      d.opset >= 12 ? AttributeList{{"value_float", 1.5F}}
                                    : AttributeList{{"value", Tensor::scalar(2.0F)}});
      case 2:
        return d.node("Constant", {}, {{"value", d.tensor(DType::kFloat32, {}, Numbers::kAny)}});
      default:
        return d.constant(DType::kFloat32, {});
    }
  };
  Value* x = d.input(DType::kFloat32, {1});
  for (int i = 0; i < 3; ++i) x = d.node(d.r.one_of({"Add", "Mul", "Max"}), {x, constant()});
  d.output(x);
  if (d.chance(10)) d.output(constant());
}

void draw_widen_halves(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.opset = d.r.one_of({12, 13, 17});
  const DType t = d.r.one_of({DType::kFloat16, DType::kFloat16, DType::kBFloat16, DType::kFloat32});
  const Shape shape = d.shape(2);
  const Numbers numbers = d.r.one_of({Numbers::kPlain, Numbers::kWhole, Numbers::kSpecial});
  std::vector<Value*> values = {d.input(t, shape, numbers), d.input(t, shape, numbers), d.constant(t, shape)};
  for (int i = 0; i < 4; ++i) {
    Value *a = d.r.one_of(values), *b = d.r.one_of(values);
    switch (d.r.below(4)) {
      case 0:
        values.push_back(d.node(d.r.one_of({"Add", "Mul", "Sub"}), {a, b}));
        break;
      case 1:
        values.push_back(d.node(d.r.one_of({"Transpose", "Identity"}), {d.node("Identity", {a})}));
        values.push_back(values.front());
        break;
      case 2:
        d.output(d.node("Cast", {a}, {{"to", int64_t{1}}}));
        break;
      default:
        values.push_back(d.node(d.r.one_of({"Neg", "Relu", "Abs", "Sigmoid"}), {a}));
    }
  }
  d.output(d.node("Neg", {values.back()}));
}

void draw_raise_opset(Draft& d) {
  d.opset = d.r.one_of({6, 6, 5, 4});
  const DType t = DType::kFloat32;
  const Shape shape = {d.r.between(1, 3), d.r.between(1, 3), d.r.between(1, 3), d.r.between(1, 3)};
  Value* x = d.input(t, shape);
  for (int i = 0; i < 2; ++i) {
    switch (d.r.below(4)) {
      case 0:
        x = d.node(d.r.one_of({"Add", "Mul", "Sub"}), {x, d.constant(t, {shape[1]})},
                   {{"broadcast", int64_t{1}}, {"axis", int64_t{1}}});
        break;
      case 1: {
        Value* v = d.number(t, 1.0, {shape[1]});
        x = d.node("BatchNormalization", {x, v, d.constant(t, {shape[1]}), d.constant(t, {shape[1]}), v},
                   {{"is_test", int64_t{1}}});
        d.closeness = Closeness::kRounding;
        break;
      }
      case 2:
        x = d.node("Dropout", {x}, {{"is_test", int64_t{1}}});
        break;
      default:
        x = d.node(d.r.one_of({"Relu", "Neg", "Abs"}), {x});
    }
  }
  d.output(x);
}

}  // namespace assay::fuzz
