// ONNX Runtime's products of 8-bit integers that give float32 become MatMulInteger, a Cast and a scaling: the
// form in which quantizers write them for everyone, and in which the engine's integer kernels know them. What
// QAttention does behind its product is a MultiHeadAttention. float32, known shapes and one matrix on the
// right.
#include "analysis/match.h"
#include "kernels/int8/int8_product.h"
#include "passes/formula.h"
#include "passes/pass_list.h"

namespace assay::pass_lower_integer_products {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

bool is_byte(const Value* v) { return dtype_of(v) == DType::kUInt8 || dtype_of(v) == DType::kInt8; }

bool is_f32(const Value* v) { return dtype_of(v) == DType::kFloat32 && shape_of(v).has_value(); }

bool is_single(const Value* v) {
  const std::optional<Shape> shape = shape_of(v);
  return shape && shape->size() <= 1 && shape->numel() == 1;
}

/// One number, or one for each column of a matrix.
bool is_by_column(const Value* v, int64_t columns) {
  const std::optional<Shape> shape = shape_of(v);
  return shape && broadcasts_to(*shape, {1, columns});
}

/// Levels with a scale and a zero point, or none, on the left.
struct Left {
  Term levels, scale;
  Patch::Ref zero;
};

/// Inputs of a node: the matrix on the right with its scale and zero point, and what is added to the product.
struct Right {
  size_t levels, scale, zero, bias;
};

bool is_left(const Node& n, size_t levels, size_t scale, size_t zero) {
  const Value* z = n.input(zero);
  return is_byte(n.input(levels)) && is_f32(n.input(scale)) && is_single(n.input(scale)) &&
         (z == nullptr || (dtype_of(z) == dtype_of(n.input(levels)) && is_single(z)));
}

/// The product's shape, where it can be written in standard operators.
std::optional<Shape> shape_of_product(const Node& n, size_t left, const Right& right) {
  std::optional<Shape> out = shape_of(n.input(left));
  const std::optional<Shape> b = shape_of(n.input(right.levels));
  if (!out || !b || !is_byte(n.input(right.levels)) || out->size() < 2 || b->size() != 2) return std::nullopt;
  // The sums that are meant do not wrap around, as those of 32 bits might.
  if (out->back() != (*b)[0] || (*b)[0] > kernels::kMaxInt8Sum || out->numel() == 0 || b->numel() == 0)
    return std::nullopt;
  (*out)[out->size() - 1] = (*b)[1];
  const Value *scale = n.input(right.scale), *zero = n.input(right.zero), *bias = n.input(right.bias);
  if (!is_f32(scale) || !is_by_column(scale, (*b)[1])) return std::nullopt;
  if (zero != nullptr && (dtype_of(zero) != dtype_of(n.input(right.levels)) || !is_by_column(zero, (*b)[1])))
    return std::nullopt;
  if (bias != nullptr && (!is_f32(bias) || !broadcasts_to(*shape_of(bias), *out))) return std::nullopt;
  return out;
}

Term product(Formula& f, const Node& n, const Left& left, const Right& right, const Shape& shape) {
  std::vector<Patch::Ref> inputs = {left.levels.ref, n.input(right.levels), left.zero, n.input(right.zero)};
  const bool has_zero = left.zero.made >= 0 || left.zero.value != nullptr;
  if (n.input(right.zero) == nullptr) inputs.resize(has_zero ? 3 : 2);
  const Term sums = f.node("MatMulInteger", std::move(inputs), {}, DType::kInt32, shape);
  const Term scale = f.binary("Mul", left.scale, Formula::of(n.input(right.scale)));
  const Term y = f.binary("Mul", f.cast(sums, DType::kFloat32), scale);
  return n.input(right.bias) == nullptr ? y : f.binary("Add", y, Formula::of(n.input(right.bias)));
}

struct Writing {
  Patch patch;
  Formula f;

  Writing(const Node& n, const PassContext& context) : patch(n), f(patch, context, n.output(0)->name()) {
    patch.remove(n);
  }
};

std::optional<Patch> integers(const Node& n, const PassContext& context) {
  enum : size_t { kA, kB, kAScale, kBScale, kAZero, kBZero, kBias };
  constexpr Right kRight = {.levels = kB, .scale = kBScale, .zero = kBZero, .bias = kBias};
  const std::optional<Shape> shape = shape_of_product(n, kA, kRight);
  if (!shape || !is_left(n, kA, kAScale, kAZero)) return std::nullopt;
  Writing w(n, context);
  const Left left{Formula::of(n.input(kA)), Formula::of(n.input(kAScale)), n.input(kAZero)};
  w.f.give(product(w.f, n, left, kRight, *shape), n.output(0));
  return std::move(w.patch);
}

/// The left operand is quantised by its own range.
std::optional<Patch> quantized(const Node& n, const PassContext& context) {
  enum : size_t { kA, kB, kBScale, kBZero, kBias };
  constexpr Right kRight = {.levels = kB, .scale = kBScale, .zero = kBZero, .bias = kBias};
  const std::optional<Shape> shape = shape_of_product(n, kA, kRight);
  if (!shape || !is_f32(n.input(kA)) || context.model.opset() < 11) return std::nullopt;
  Writing w(n, context);
  Type levels = n.input(kA)->type;
  levels.dtype = DType::kUInt8;
  const std::vector<Patch::Ref> made =
      w.patch.add_fresh("DynamicQuantizeLinear", {n.input(kA)}, {},
                        {levels, Type::tensor(DType::kFloat32, Dims()), Type::tensor(DType::kUInt8, Dims())});
  const Left left{
      {made[0], DType::kUInt8, *shape_of(n.input(kA))}, {made[1], DType::kFloat32, Shape{}}, made[2]};
  w.f.give(product(w.f, n, left, kRight, *shape), n.output(0));
  return std::move(w.patch);
}

/// Keys or values [batch, heads, rows, size] of a past that stacks both.
Term half(Formula& f, const Term& past, int64_t i) {
  Shape one = past.shape;
  one.erase_at(0);
  return f.reshape(f.slice(past, 0, i, i + 1), one);
}

/// [batch, heads, rows, size] of the keys behind those of the past, where there is one; nothing where the two
/// do not go together.
std::optional<Shape> shape_with_past(const Node& n, const Value* past, Shape fresh) {
  if (past == nullptr) return fresh;
  const std::optional<Shape> old = shape_of(past);
  if (!old || !is_f32(past) || old->size() != 5 || int_attribute(n, "past_present_share_buffer", 0) != 0 ||
      *old != Shape{2, fresh[0], fresh[1], (*old)[3], fresh[3]})
    return std::nullopt;
  fresh[2] += (*old)[3];
  return fresh;
}

/// Those that MultiHeadAttention has, too.
AttributeList shared_attributes(const Node& n) {
  AttributeList attributes;
  for (const Attribute& a : n.attributes)
    if (a.name != "do_rotary" && a.name != "past_present_share_buffer")
      attributes.emplace_back(a.name, a.data);
  return attributes;
}

/// Keys and values [batch, heads, rows, size] as one output that stacks both.
void give_stacked(Formula& f, const Patch::Ref& keys, const Patch::Ref& values, const Shape& shape,
                  Value* output) {
  Shape part = shape;
  part.insert_at(0, 1);
  const Term first = f.reshape({keys, DType::kFloat32, shape}, part),
             second = f.reshape({values, DType::kFloat32, shape}, part);
  f.give(f.concat({first, second}, 0), output);
}

/// Queries, keys and values are one product of the input.
std::optional<Patch> attention(const Node& n, const PassContext& context) {
  enum : size_t { kInput, kWeights, kBias, kInputScale, kWeightScale, kMask, kInputZero, kWeightZero, kPast };
  constexpr Right kRight = {.levels = kWeights, .scale = kWeightScale, .zero = kWeightZero, .bias = kBias};
  const std::optional<Shape> shape = shape_of_product(n, kInput, kRight);
  const int64_t heads = int_attribute(n, "num_heads", 0);
  if (!shape || shape->size() != 3 || !is_left(n, kInput, kInputScale, kInputZero) || heads <= 0 ||
      shape->back() % (3 * heads) != 0 || int_attribute(n, "do_rotary", 0) != 0)
    return std::nullopt;
  const int64_t batch = (*shape)[0], length = (*shape)[1], hidden = shape->back() / 3;
  const std::optional<Shape> present =
      shape_with_past(n, n.input(kPast), {batch, heads, length, hidden / heads});
  if (!present) return std::nullopt;
  Value* const past = (*present)[2] > length ? n.input(kPast) : nullptr;
  Writing w(n, context);
  Formula& f = w.f;
  const Left left{Formula::of(n.input(kInput)), Formula::of(n.input(kInputScale)), n.input(kInputZero)};
  const Term projected = product(f, n, left, kRight, *shape);
  std::vector<Patch::Ref> inputs;
  for (int64_t i = 0; i < 3; ++i) inputs.push_back(f.slice(projected, 2, i * hidden, (i + 1) * hidden).ref);
  if (past != nullptr || n.input(kMask) != nullptr) inputs.insert(inputs.end(), {{}, n.input(kMask)});
  if (past != nullptr)
    inputs.insert(inputs.end(), {{}, half(f, Formula::of(past), 0).ref, half(f, Formula::of(past), 1).ref});
  const AttributeList attributes = shared_attributes(n);
  if (n.output(1) == nullptr) {
    w.patch.add("MultiHeadAttention", inputs, attributes, n.output(0), {}, std::string(kMicrosoft));
    return std::move(w.patch);
  }
  const Type grown = Type::tensor(DType::kFloat32, Dims(present->begin(), present->end()));
  const std::vector<Patch::Ref> made = w.patch.add_fresh(
      "MultiHeadAttention", inputs, attributes, {n.output(0)->type, grown, grown}, std::string(kMicrosoft));
  f.give({made[0], DType::kFloat32, {batch, length, hidden}}, n.output(0));
  give_stacked(f, made[1], made[2], *present, n.output(1));
  return std::move(w.patch);
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (n.domain != kMicrosoft || context.model.opset() < 10 || n.outputs().empty() || n.output(0) == nullptr ||
      dtype_of(n.output(0)) != DType::kFloat32)
    return std::nullopt;
  if (n.op_type == "MatMulIntegerToFloat") return integers(n, context);
  if (n.op_type == "DynamicQuantizeMatMul") return quantized(n, context);
  return n.op_type == "QAttention" ? attention(n, context) : std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_integer_products",
    .summary = "products of 8-bit integers that give float32 become MatMulInteger, a Cast and a scaling",
    .conditions =
        "Opset 10 or later (11 where the left operand is quantised in the run), 8-bit integers, extents that "
        "are numbers above 0, one matrix on the right; sums that do not wrap around in 32 bits.",
    .match = match,
};

}  // namespace assay::pass_lower_integer_products
