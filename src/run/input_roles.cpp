#include "run/input_roles.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/name_pattern.h"
#include "graph/read.h"
#include "ops/node_facts.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using RoleKind = InputRole::Kind;

/// The axis that indices count along, as far as its extent is known.
int64_t indexed_extent(const Node& n, const InputUse& use) {
  const Value* data = n.input(use.of);
  if (data == nullptr || !data->type.has_shape() || data->type.dims->empty()) return 0;
  const Dims& dims = *data->type.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const bool loss = n.op_type.ends_with("Loss");
  int64_t axis = int_attribute(n, "axis", loss ? 1 : 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return 0;
  if (!n.op_type.ends_with("ND")) {
    const Dim& d = dims[static_cast<size_t>(axis)];
    return d.is_known() ? d.value() : 0;
  }
  // Several axes: what is right for all of them.
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Dim& d : dims) least = std::min(least, d.is_known() ? d.value() : 1);
  return least;
}

/// Whether it hands the numbers of its inputs on, or some of them.
bool passes_on(const Node& n, const Model& model) {
  const OpFacts& facts = facts_of(n, model);
  return hands_on(n, model) || facts.recodes || (facts.moves == Moves::kSelected && facts.elementwise != 0);
}

/// Whether input `i` is one of those numbers.
bool is_passed_on(const Node& n, size_t i, const Model& model) {
  return i == 0 || facts_of(n, model).elementwise == kEveryInput || is_op(n, "Concat");
}

RoleKind kind_of(InputUse::Kind kind) {
  switch (kind) {
    case InputUse::Kind::kIndex:
      return RoleKind::kIndex;
    case InputUse::Kind::kCount:
      return RoleKind::kCount;
    case InputUse::Kind::kShape:
      return RoleKind::kShape;
    case InputUse::Kind::kAxis:
      return RoleKind::kAxis;
    case InputUse::Kind::kNumbers:
      break;
  }
  return RoleKind::kAny;
}

InputRole role_in(const Node& n, size_t slot, bool whole, const Model& model) {
  for (const InputUse& use : facts_of(n, model).uses) {
    if (use.kind == InputUse::Kind::kNumbers || use.input != slot) continue;
    const int64_t extent = use.kind == InputUse::Kind::kIndex  ? indexed_extent(n, use)
                           : use.kind == InputUse::Kind::kAxis ? std::max(1, rank_of(n.input(0)))
                                                               : 0;
    const bool is_distance = is_op(n, "Pad") || is_op(n, "BitShift") || is_op(n, "Trilu");
    return {kind_of(use.kind), is_distance ? 2 : extent, n.label()};
  }
  if (whole && slot == 1 && (is_op(n, "Div") || is_op(n, "Mod"))) return {RoleKind::kDivisor, 0, n.label()};
  return {};
}

/// Of the nodes that read a value, and of those behind nodes that hand it on.
class RoleSearch {
 public:
  explicit RoleSearch(const Model& model) : model_(model) {}
  InputRole find(const Value& v, int depth = 0) {
    constexpr int kDeepest = 8;
    if (!seen_.insert(&v).second) return {};
    const bool is_whole = is_integer(dtype_of(&v));
    for (const Node* n : v.consumers())
      for (size_t i = 0; i < n->inputs().size(); ++i) {
        if (n->input(i) != &v) continue;
        if (const InputRole role = role_in(*n, i, is_whole, model_); role.kind != RoleKind::kAny) return role;
        if (!is_passed_on(*n, i, model_) || !passes_on(*n, model_) || depth == kDeepest) continue;
        for (const Value* y : n->outputs())
          if (y != nullptr)
            if (const InputRole role = find(*y, depth + 1); role.kind != RoleKind::kAny) return role;
      }
    return {};
  }

 private:
  const Model& model_;
  std::unordered_set<const Value*> seen_;
};

/// The number, if the role allows it, else one that it allows.
int64_t allowed(const InputRole& role, int64_t v, int64_t at) {
  switch (role.kind) {
    case RoleKind::kDivisor:
      return v == 0 ? 1 : v;
    case RoleKind::kIndex:
      return role.extent > 0 && (v >= role.extent || v < -role.extent) ? 0 : v;
    case RoleKind::kShape:
      return at == 0 ? -1 : 1;
    case RoleKind::kCount:
      return std::max<int64_t>(v, 1);
    case RoleKind::kAxis:
      return std::min(v, role.extent - 1);
    case RoleKind::kAny:
      return v;
  }
  return v;
}

}  // namespace

InputRole find_role(const Model& model, const Value& input) { return RoleSearch(model).find(input); }

bool has_user_range(const DataLoaderOptions& options, const Value& input) {
  const bool is_whole = is_integer(input.type.dtype) || input.type.dtype == DType::kBool;
  if (is_whole ? options.integer_range.has_value() : options.float_range.has_value()) return true;
  return std::any_of(options.ranges.begin(), options.ranges.end(), [&](const auto& r) {
    return r.first.empty() || NamePattern(r.first).matches(input.name());
  });
}

void obey_roles(const Model& model, const DataLoaderOptions& given, TensorList& feed) {
  for (const Value* v : model.graph->inputs) {
    const InputRole role = find_role(model, *v);
    if (role.kind == RoleKind::kAny || !is_integer(dtype_of(v)) || has_user_range(given, *v)) continue;
    for (NamedTensor& t : feed) {
      if (t.name != v->name() || !is_integer(t.tensor.dtype())) continue;
      Tensor whole = Tensor::vector(t.tensor.to_int64());
      int64_t at = 0;
      for (int64_t& x : whole.mutable_span<int64_t>()) x = allowed(role, x, at++);
      t.tensor = convert(whole.reshaped(t.tensor.shape()), t.tensor.dtype());
    }
  }
}

}  // namespace assay
