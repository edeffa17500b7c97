// Operators of the standard that are formulas over reductions become those formulas, which kernels serve.
// float32 and known shapes.
#include <algorithm>
#include <limits>

#include "analysis/match.h"
#include "ops/op_context.h"
#include "passes/formula.h"
#include "passes/pass_list.h"
#include "passes/reductions.h"

namespace assay::pass_lower_formulas {
namespace {

/// What MeanVarianceNormalization adds to the deviation.
constexpr float kDeviationEpsilon = 1e-9F;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Writing {
  const Node& n;
  Patch patch;
  Formula f;

  Writing(const Node& node, const PassContext& context)
      : n(node), patch(node), f(patch, context, node.output(0)->name()) {
    patch.remove(node);
  }
  Patch done(const Term& result) {
    f.give(f.reshape(result, shape_of(n.output(0)).value()), n.output(0));
    return std::move(patch);
  }
};

/// Each line along the reduced axes to mean 0 and deviation 1: they are brought behind the others.
std::optional<Patch> normalized(const Node& n, const PassContext& context) {
  const Shape shape = *shape_of(n.input(0));
  std::vector<bool> reduced(shape.size());
  const Attribute* const given = n.find_attribute("axes");
  for (const int64_t axis :
       given != nullptr ? *given->get_if<std::vector<int64_t>>() : std::vector<int64_t>{0, 2, 3}) {
    if (axis < -shape.rank() || axis >= shape.rank()) return std::nullopt;
    reduced[static_cast<size_t>(axis < 0 ? axis + shape.rank() : axis)] = true;
  }
  std::vector<int64_t> perm, back(shape.size());
  int64_t lines = 1;
  for (const bool wanted : {false, true})
    for (size_t d = 0; d < shape.size(); ++d)
      if (reduced[d] == wanted) {
        back[d] = static_cast<int64_t>(perm.size());
        perm.push_back(static_cast<int64_t>(d));
        if (!wanted) lines *= shape[d];
      }
  Writing w(n, context);
  Formula& f = w.f;
  const Term turned = f.transpose(Formula::of(n.input(0)), perm);
  const Term x = f.reshape(turned, {lines, shape.numel() / lines});
  const Term d = f.binary("Sub", x, f.reduce("ReduceMean", x));
  const Term variance = f.reduce("ReduceMean", f.binary("Mul", d, d));
  const Term y = f.binary("Div", d, f.binary("Add", f.unary("Sqrt", variance), f.number(kDeviationEpsilon)));
  return w.done(f.transpose(f.reshape(y, turned.shape), back));
}

/// m + ln(sum of e^(x - m)) with the largest element m, or 0 where that is no finite number.
std::optional<Patch> log_sum_exp(const Node& n, const PassContext& context) {
  const auto reduction = reduction_of(n);
  if (!reduction) return std::nullopt;
  Writing w(n, context);
  Formula& f = w.f;
  const Term x = Formula::of(n.input(0)), most = f.reduce("ReduceMax", x, reduction->axes);
  const Term is_finite = f.compare("Less", f.unary("Abs", most), f.number(kInfinity));
  const Term m = f.choose(is_finite, most, f.number(0));
  const Term sum = f.reduce("ReduceSum", f.unary("Exp", f.binary("Sub", x, m)), reduction->axes);
  return w.done(f.binary("Add", m, f.unary("Log", sum)));
}

std::optional<Patch> log_sum(const Node& n, const PassContext& context) {
  const auto reduction = reduction_of(n);
  if (!reduction) return std::nullopt;
  Writing w(n, context);
  return w.done(w.f.unary("Log", w.f.reduce("ReduceSum", Formula::of(n.input(0)), reduction->axes)));
}

/// x over the norm of its line. Squares are of x over the line's largest magnitude m, so that none vanishes
/// or overflows: x / m over its own norm.
std::optional<Patch> over_norm(const Node& n, const PassContext& context) {
  const Shape shape = *shape_of(n.input(0));
  const int64_t p = int_attribute(n, "p", 2);
  if (shape.size() == 0 || (p != 1 && p != 2)) return std::nullopt;
  const int64_t axis = normalize_axis(int_attribute(n, "axis", -1), shape.rank());
  Writing w(n, context);
  Formula& f = w.f;
  const Term zero = f.number(0), x = Formula::of(n.input(0));
  const Term most = f.reduce("ReduceMax", f.unary("Abs", x), {axis});
  const Term is_zero = f.compare("Equal", most, zero);
  const Term is_finite = f.compare("Less", most, f.number(kInfinity));
  const Term scale = f.choose(is_zero, f.number(1), f.choose(is_finite, most, f.number(1)));
  const Term scaled = f.binary("Div", x, scale);
  const Term norm = f.reduce(p == 1 ? "ReduceL1" : "ReduceL2", scaled, {axis});
  return w.done(f.choose(is_zero, zero, f.binary("Div", scaled, norm)));
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if (!n.domain.empty() || context.model.opset() < 10 || n.inputs().empty() || n.input(0) == nullptr ||
      n.output(0) == nullptr)
    return std::nullopt;
  const std::optional<Shape> in = shape_of(n.input(0)), out = shape_of(n.output(0));
  if (!in || !out || in->numel() == 0 || dtype_of(n.input(0)) != DType::kFloat32) return std::nullopt;
  const std::string_view op = n.op_type;
  if (op == "MeanVarianceNormalization") return normalized(n, context);
  if (op == "ReduceLogSumExp") return log_sum_exp(n, context);
  if (op == "ReduceLogSum") return log_sum(n, context);
  if (op == "LpNormalization") return over_norm(n, context);
  return std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_formulas",
    .summary = "operators that are formulas over reductions become those formulas",
    .conditions =
        "Opset 10 or later, float32, extents that are numbers above 0. LpNormalization with p 1 or 2; "
        "reductions whose axes are known. What the formula computes on the way stays in the range of "
        "float32.",
    .match = match,
};

}  // namespace assay::pass_lower_formulas
