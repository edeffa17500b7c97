// A Cast of a Cast that lost nothing becomes one.
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_merge_casts {
namespace {

/// Bits of integers that a type holds exactly, and the bits of its exponent; 0 for types that are left out.
struct Extent {
  int digits = 0, exponent = 0;
  bool is_signed = true;
};

Extent extent_of(DType t) {
  switch (t) {
    case DType::kBool:
      return {1, 0, false};
    case DType::kUInt8:
      return {8, 0, false};
    case DType::kUInt16:
      return {16, 0, false};
    case DType::kUInt32:
      return {32, 0, false};
    case DType::kUInt64:
      return {64, 0, false};
    case DType::kInt8:
      return {7, 0, true};
    case DType::kInt16:
      return {15, 0, true};
    case DType::kInt32:
      return {31, 0, true};
    case DType::kInt64:
      return {63, 0, true};
    case DType::kFloat16:
      return {11, 5, true};
    case DType::kBFloat16:
      return {8, 8, true};
    case DType::kFloat32:
      return {24, 8, true};
    case DType::kFloat64:
      return {53, 11, true};
    default:
      return {};
  }
}

/// Every value of `from` is one of `to`.
bool is_exact(DType from, DType to) {
  const Extent a = extent_of(from), b = extent_of(to);
  return a.digits > 0 && b.digits >= a.digits && b.exponent >= a.exponent && (b.is_signed || !a.is_signed);
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!is_op(n, "Cast") || n.output(0) == nullptr || context.model.opset() < 6) return std::nullopt;
  const Node* first = producer_of(n.input(0), "Cast");
  if (first == nullptr || first->input(0) == nullptr) return std::nullopt;
  const DType from = dtype_of(first->input(0)), through = dtype_of(n.input(0)), to = dtype_of(n.output(0));
  if (!is_exact(from, through) || extent_of(to).digits == 0) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  if (from == to && context.can_replace(n.output(0), first->input(0))) {
    patch.replace(n.output(0), first->input(0));
    return patch;
  }
  AttributeList attributes;
  for (const Attribute& a : n.attributes) attributes.emplace_back(a.name, a.data);
  patch.add("Cast", {first->input(0)}, std::move(attributes), n.output(0));
  return patch;
}

}  // namespace

constinit const PassDef def = {
    .name = "merge_casts",
    .summary = "a Cast of a Cast that lost nothing becomes one",
    .conditions =
        "Opset 6 or later. The type in between holds every value of the first; bool, integers of 8 to 64 "
        "bits, float16, bfloat16, float32 and float64.",
    .match = match,
};

}  // namespace assay::pass_merge_casts
