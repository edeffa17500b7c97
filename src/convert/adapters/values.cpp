// Attribute values that a version added or renamed, and types and forms of individual operators.
#include <algorithm>

#include "convert/rewrite.h"
#include "convert/steps.h"
#include "ops/op_set.h"
#include "reference/evaluate.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

void refuse_wrap(Rewrite& r) {
  if (r.get_string("mode", "constant") == "wrap") no_equivalent("the attribute 'mode' = 'wrap'");
}

void refuse_extrema(Rewrite& r) {
  const std::string reduction = r.get_string("reduction", "none");
  if (reduction == "max" || reduction == "min") no_equivalent("the attribute 'reduction' = '{}'", reduction);
}

void rename_to_scatter_elements(Rewrite& r) { r.node().op_type = "ScatterElements"; }

void new_sample_modes(Rewrite& r) {
  const std::string mode = r.get_string("mode", "bilinear");
  r.node().set_attribute("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
}

void old_sample_modes(Rewrite& r) {
  const std::string mode = r.get_string("mode", "linear");
  if (r.rank(0) != 4) no_equivalent("the input 'X' of rank {}", r.rank(0));
  r.node().set_attribute("mode", mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode);
}

void keep_offset(Rewrite& r) {
  r.node().set_attribute("coordinate_transformation_mode", std::string("output_half_pixel"));
}

void forget_offset(Rewrite& r) {
  const std::string mode = r.get_string("coordinate_transformation_mode", "half_pixel");
  if (mode != "output_half_pixel")
    no_equivalent("the attribute 'coordinate_transformation_mode' = '{}'", mode);
  r.node().remove_attribute("coordinate_transformation_mode");
}

void cast_exponent(Rewrite& r) {
  if (r.dtype(0) != r.dtype(1))
    r.node().set_input(1, r.add("Cast", {r.input(1)}, {{"to", static_cast<int64_t>(r.dtype(0))}}));
}

/// The remainder with the sign of the divisor, from the one with the sign of the dividend.
void floor_from_truncated(Rewrite& r) {
  if (!is_float(r.dtype(0)) || r.get_int("fmod", 0) != 0) return;
  r.set_opset(13);
  Value* zero = r.number(0, r.dtype(0), "zero");
  Value* rest = r.add("Mod", {r.input(0), r.input(1)}, {{"fmod", int64_t{1}}});
  Value* is_below = r.add("Less", {r.input(1), zero});
  Value* differs = r.add("Xor", {r.add("Less", {rest, zero}), is_below});
  Value* signed_rest = r.add("Where", {differs, r.add("Add", {rest, r.input(1)}), rest});
  // A zero has the sign of the divisor, too.
  Value* signed_zero = r.add("Where", {is_below, r.number(-0.0, r.dtype(0), "negative_zero"), zero});
  r.replace({r.add("Where", {r.add("Equal", {rest, zero}), signed_zero, signed_rest})});
}

/// Half precision in float, as stash_type specifies; other types have no alternative.
void count_in_float(Rewrite& r) {
  const int64_t stash = r.get_int("stash_type", 1);
  r.node().remove_attribute("stash_type");
  const DType dtype = r.dtype(0);
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) return;
  if (stash != static_cast<int64_t>(DType::kFloat32)) no_equivalent("the attribute 'stash_type' = {}", stash);
  r.set_opset(13);
  const AttributeList wide = {{"to", static_cast<int64_t>(DType::kFloat32)}};
  std::vector<Value*> in;
  for (size_t i = 0; i < 3; ++i) in.push_back(r.add("Cast", {r.input(i)}, wide));
  r.replace({r.add("Cast", {r.add("Range", in)}, {{"to", static_cast<int64_t>(dtype)}})});
}

void slice_shape(Rewrite& r) {
  const int64_t start = r.get_int("start", 0);
  const bool has_end = r.has("end");
  if (start == 0 && !has_end) return;
  const int64_t end = r.get_int("end", 0);
  r.node().remove_attribute("start");
  r.node().remove_attribute("end");
  Value* starts = r.ints({start}, "starts");
  Value* ends = r.ints({has_end ? end : int64_t{INT32_MAX}}, "ends");
  Value* out = r.output(0);
  r.give(out, "Slice", {r.take_output(0), starts, ends});
}

/// A tensor of any form as `value`.
void plain_constant(Rewrite& r) {
  for (const Attribute& a : r.node().attributes)
    if (!a.ref_attr_name.empty())
      no_equivalent("the attribute '{}' that is whatever a call of the function gives", a.name);
  if (r.has("value")) return;
  const OpDef& op = *r.ops().find("", "Constant");
  const Tensor value = evaluate_node(r.node(), {&op, &op.versions.back()}, {})[0];
  r.node().attributes.clear();
  r.node().set_attribute("value", value);
}

/// Only floats could be constants of a node; other types become initializers.
void initializer_from_constant(Rewrite& r) {
  const Attribute* a = r.node().find_attribute("value");
  const UnalignedTensor* t = a != nullptr ? a->get_if<UnalignedTensor>() : nullptr;
  if (t == nullptr) no_equivalent("a node without the attribute 'value'");
  const DType d = t->dtype();
  if (d != DType::kFloat16 && d != DType::kFloat32 && d != DType::kFloat64) r.become_constant(*t);
}

void sparse_constant(Rewrite& r) {
  if (!r.has("sparse_value")) plain_constant(r);
}

void give_bias(Rewrite& r) {
  if (r.input(2) == nullptr) r.node().set_input(2, r.numbers({0}, r.dtype(0), "C"));
}

/// A zero in the shape is an extent, not a copy: without zeros both mean the same.
void copy_extents(Rewrite& r) {
  if (r.get_int("allowzero", 0) == 0) return;
  const Ints shape = r.constant_ints(1, "shape");
  if (std::count(shape.begin(), shape.end(), 0) > 0) no_equivalent("the attribute 'allowzero' = 1");
  r.node().remove_attribute("allowzero");
}

bool is_optional(Rewrite& r) {
  const Type::Kind kind = r.input(0)->type.kind;
  if (kind == Type::Kind::kUnknown) no_equivalent("an input of unknown type");
  return kind == Type::Kind::kOptional;
}

void get_from_plain(Rewrite& r) {
  if (!is_optional(r)) r.replace({r.input(0)});
}

void has_plain(Rewrite& r) {
  if (r.input(0) != nullptr && is_optional(r)) return;
  r.replace({r.constant(Tensor::scalar(r.input(0) != nullptr), "has")});
}

void drop_all_ones(Rewrite& r) {
  const Ints dilations = r.get_ints("dilations");
  if (std::all_of(dilations.begin(), dilations.end(), [](int64_t d) { return d == 1; }))
    r.node().remove_attribute("dilations");
}

void drop_storage_order(Rewrite& r) {
  if (!r.is_used(1)) r.node().remove_attribute("storage_order");
}

/// Blocks whose depth is the outermost part: by reshaping and transposing.
void depth_in_columns(Rewrite& r) {
  if (r.get_string("mode", "DCR") != "CRD") return;
  const Shape in = r.shape(0);
  const int64_t b = r.get_int("blocksize", 1);
  if (in.size() != 4 || b < 1) no_equivalent("the input 'input' of shape {}", in.str());
  const int64_t n = in[0], c = in[1], h = in[2], w = in[3];
  const bool to_space = r.node().op_type == "DepthToSpace";
  // The product of two extents of a tensor that exists does not overflow; that of any number would.
  const bool divides = to_space ? b <= c && c / b % b == 0 && c % b == 0 : h % b == 0 && w % b == 0;
  if (!divides) no_equivalent("blocks of {} in the input 'input' of shape {}", b, in.str());
  const Ints parts = to_space ? Ints{n, c / (b * b), b, b, h, w} : Ints{n, c, h / b, b, w / b, b};
  const Ints perm = to_space ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 1, 3, 5, 2, 4};
  const Ints shape = to_space ? Ints{n, c / (b * b), h * b, w * b} : Ints{n, c * b * b, h / b, w / b};
  Value* x = r.add("Reshape", {r.input(0), r.ints(parts, "parts")});
  x = r.add("Transpose", {x}, {{"perm", perm}});
  r.replace({r.add("Reshape", {x, r.ints(shape, "shape")})});
}

void mask_to_bool(Rewrite& r) {
  if (!r.is_used(1)) return r.node().set_outputs({r.output(0)});
  Value* mask = r.output(1);
  r.give(mask, "Cast", {r.take_output(1)}, {{"to", static_cast<int64_t>(DType::kBool)}});
}

void mask_to_number(Rewrite& r) {
  if (!r.is_used(1)) return r.node().set_outputs({r.output(0)});
  Value* mask = r.output(1);
  r.give(mask, "Cast", {r.take_output(1)}, {{"to", static_cast<int64_t>(r.dtype(0))}});
}

}  // namespace

#define ASSAY_DEFINE(id, text, ...) \
  constinit const Adapter adapter_##id = {.name = #id, .summary = text, __VA_ARGS__}

ASSAY_DEFINE(pad_wrap, "the mode wrap", .down = refuse_wrap);
ASSAY_DEFINE(scatter_extrema, "the reductions max and min", .down = refuse_extrema);
ASSAY_DEFINE(scatter_renamed, "Scatter is called ScatterElements", .up = rename_to_scatter_elements);
ASSAY_DEFINE(grid_sample_modes, "modes are called linear and cubic; any rank", .up = new_sample_modes,
             .down = old_sample_modes);
ASSAY_DEFINE(roi_align_offset, "coordinates are moved by half a pixel unless the old way is asked for",
             .up = keep_offset, .down = forget_offset);
ASSAY_DEFINE(exponent_type, "the exponent may be of another type", .down = cast_exponent);
ASSAY_DEFINE(float_floor_mod, "floats have the remainder with the sign of the divisor",
             .down = floor_from_truncated);
ASSAY_DEFINE(range_stash, "half precision, counted in float", .down = count_in_float);
ASSAY_DEFINE(shape_range, "part of the shape may be asked for", .down = slice_shape);
ASSAY_DEFINE(constant_types, "all types, not floats only", .down = initializer_from_constant);
ASSAY_DEFINE(constant_sparse, "the tensor may be sparse", .down = plain_constant);
ASSAY_DEFINE(constant_numbers, "the tensor may be given as numbers or strings", .down = sparse_constant);
ASSAY_DEFINE(gemm_bias, "C may be left out", .down = give_bias);
ASSAY_DEFINE(reshape_zero, "a zero may be an extent", .down = copy_extents);
ASSAY_DEFINE(optional_get, "the input need not be optional", .down = get_from_plain);
ASSAY_DEFINE(optional_has, "the input need not be optional, nor be there", .down = has_plain);
ASSAY_DEFINE(dilations, "windows may be dilated", .down = drop_all_ones);
ASSAY_DEFINE(pool_indices, "the places of the maxima are an output", .down = drop_storage_order);
ASSAY_DEFINE(depth_modes, "the order CRD", .down = depth_in_columns);
ASSAY_DEFINE(dropout_mask, "the mask is of bool", .up = mask_to_number, .down = mask_to_bool);

#undef ASSAY_DEFINE

}  // namespace assay
