#include "passes/formula.h"

#include <algorithm>
#include <limits>

#include "graph/read.h"
#include "ops/eval_util.h"

namespace assay {
namespace {

Type type_of_term(DType dtype, const Shape& shape) {
  return Type::tensor(dtype, Dims(shape.begin(), shape.end()));
}

}  // namespace

bool broadcasts_to(const Shape& small, const Shape& large) {
  if (small.size() > large.size()) return false;
  for (size_t i = 1; i <= small.size(); ++i)
    if (small[small.size() - i] != 1 && small[small.size() - i] != large[large.size() - i]) return false;
  return true;
}

Term Formula::of(Value* v) { return {v, dtype_of(v), shape_of(v).value()}; }

Term Formula::constant(Tensor t) {
  Term out{{}, t.dtype(), t.shape()};
  out.ref = patch_.constant(name_ + "/constant", std::move(t));
  return out;
}

Term Formula::node(const char* op, std::vector<Patch::Ref> inputs, AttributeList attributes, DType dtype,
                   Shape shape) {
  const Patch::Ref made =
      patch_.add(op, std::move(inputs), std::move(attributes), nullptr, type_of_term(dtype, shape));
  return {made, dtype, std::move(shape)};
}

Term Formula::unary(const char* op, const Term& x) { return node(op, {x.ref}, {}, x.dtype, x.shape); }

Term Formula::binary(const char* op, const Term& x, const Term& y) {
  return node(op, {x.ref, y.ref}, {}, x.dtype, broadcast(x.shape, y.shape));
}

Term Formula::compare(const char* op, const Term& x, const Term& y) {
  return node(op, {x.ref, y.ref}, {}, DType::kBool, broadcast(x.shape, y.shape));
}

Term Formula::negate(const Term& x) { return node("Not", {x.ref}, {}, DType::kBool, x.shape); }

Term Formula::cast(const Term& x, DType to) {
  return node("Cast", {x.ref}, {{"to", static_cast<int64_t>(to)}}, to, x.shape);
}

Term Formula::choose(const Term& condition, const Term& x, const Term& y) {
  return node("Where", {condition.ref, x.ref, y.ref}, {}, x.dtype,
              broadcast(condition.shape, broadcast(x.shape, y.shape)));
}

Term Formula::matmul(const Term& x, const Term& y) {
  const size_t a = x.shape.size(), b = y.shape.size();
  require(a >= 2 && b >= 2 && x.shape[a - 1] == y.shape[b - 2], ErrorCode::kInternal,
          "{} and {} are no factors", x.shape.str(), y.shape.str());
  const Shape left(std::vector<int64_t>(x.shape.begin(), x.shape.end() - 2)),
      right(std::vector<int64_t>(y.shape.begin(), y.shape.end() - 2));
  Shape out = broadcast(left, right);
  out.push_back(x.shape[a - 2]);
  out.push_back(y.shape[b - 1]);
  return node("MatMul", {x.ref, y.ref}, {}, x.dtype, std::move(out));
}

Term Formula::transpose(const Term& x, std::vector<int64_t> perm) {
  Shape out;
  for (const int64_t axis : perm) out.push_back(x.shape[static_cast<size_t>(axis)]);
  return node("Transpose", {x.ref}, {{"perm", std::move(perm)}}, x.dtype, std::move(out));
}

Term Formula::reshape(const Term& x, const Shape& shape) {
  if (x.shape == shape) return x;
  require(x.shape.numel() == shape.numel() && shape.numel() > 0, ErrorCode::kInternal,
          "{} is not {} in another shape", x.shape.str(), shape.str());
  return node("Reshape", {x.ref, ints(shape.dims())}, {}, x.dtype, shape);
}

Term Formula::slice(const Term& x, size_t axis, int64_t first, int64_t last, int64_t step) {
  Shape out = x.shape;
  if (first == 0 && last == out[axis] && step == 1) return x;
  out[axis] = (last - first + step - 1) / step;
  return node("Slice", {x.ref, ints({first}), ints({last}), ints({static_cast<int64_t>(axis)}), ints({step})},
              {}, x.dtype, std::move(out));
}

Term Formula::concat(const std::vector<Term>& parts, size_t axis) {
  std::vector<Patch::Ref> refs;
  Shape out = parts[0].shape;
  out[axis] = 0;
  for (const Term& part : parts) {
    refs.push_back(part.ref);
    out[axis] += part.shape[axis];
  }
  const Patch::Ref made = patch_.add("Concat", refs, {{"axis", static_cast<int64_t>(axis)}}, nullptr,
                                     type_of_term(parts[0].dtype, out));
  return {made, parts[0].dtype, std::move(out)};
}

Term Formula::gather(const Term& x, const Term& index) {
  Shape out = index.shape;
  for (size_t d = 1; d < x.shape.size(); ++d) out.push_back(x.shape[d]);
  return node("Gather", {x.ref, index.ref}, {{"axis", int64_t{0}}}, x.dtype, std::move(out));
}

Term Formula::from_start(const Term& index) {
  const bool is_int32 = index.dtype == DType::kInt32;
  const Tensor zero = is_int32 ? Tensor::scalar(int32_t{0}) : Tensor::scalar(int64_t{0});
  const Tensor nowhere = is_int32 ? Tensor::scalar(std::numeric_limits<int32_t>::min())
                                  : Tensor::scalar(std::numeric_limits<int64_t>::min());
  return choose(compare("Less", index, constant(zero)), constant(nowhere), index);
}

Term Formula::instance_norm(const Term& x, float epsilon) {
  Tensor ones = Tensor::allocate(DType::kFloat32, Shape{x.shape[1]});
  std::fill_n(ones.mutable_data<float>(), ones.numel(), 1.0F);
  const Tensor zeros = Tensor::zeros(DType::kFloat32, Shape{x.shape[1]});
  return node("InstanceNormalization", {x.ref, constant(ones).ref, constant(zeros).ref},
              {{"epsilon", epsilon}}, x.dtype, x.shape);
}

Term Formula::normalize(const Term& x, bool centred, float epsilon) {
  const Term d = centred ? binary("Sub", x, reduce("ReduceMean", x)) : x;
  const Term variance = reduce("ReduceMean", binary("Mul", d, d));
  return binary("Div", d, unary("Sqrt", binary("Add", variance, number(epsilon))));
}

Term Formula::softmax(const Term& x) {
  return node("Softmax", {x.ref}, {{"axis", static_cast<int64_t>(x.shape.size()) - 1}}, x.dtype, x.shape);
}

Term Formula::reduce(const char* op, const Term& x) {
  return reduce(op, x, {static_cast<int64_t>(x.shape.size()) - 1});
}

Term Formula::reduce(const char* op, const Term& x, std::vector<int64_t> axes) {
  Shape out = x.shape;
  for (const int64_t axis : axes) out[static_cast<size_t>(axis)] = 1;
  // ReduceSum alone takes its axes as an input before opset 18.
  const bool as_input = opset_ >= 18 || (opset_ >= 13 && std::string_view(op) == "ReduceSum");
  if (as_input)
    return node(op, {x.ref, ints(std::move(axes))}, {{"keepdims", int64_t{1}}}, x.dtype, std::move(out));
  return node(op, {x.ref}, {{"axes", std::move(axes)}, {"keepdims", int64_t{1}}}, x.dtype, std::move(out));
}

void Formula::give(const Term& x, Value* output) { patch_.add("Identity", {x.ref}, {}, output); }

}  // namespace assay
