// Formulas that an operator stands for, written out, with numbers, ranks and types that are not always right.
#include <algorithm>
#include <cmath>

#include "fuzz/passes/drawn.h"

namespace assay::fuzz {
namespace {

/// float32 nearly always: no other type is taken.
DType formula_type(Draft& d) { return d.chance(85) ? DType::kFloat32 : some_float(d.r); }

Value* near(Draft& d, DType t, double x) {
  return d.number(t, d.nearly(x), d.chance(88) ? Shape{} : d.single());
}

Value* both_ways(Draft& d, const char* op, Value* a, Value* b) {
  return d.chance(50) ? d.node(op, {a, b}) : d.node(op, {b, a});
}

void operators_at_times(Draft& d, int64_t since) {
  d.opset = d.r.one_of({since, since, int64_t{24}, int64_t{13}});
  if (d.opset >= since && d.chance(80)) d.after = {"regions_to_operators"};
}

/// The value between two nodes of a formula is wanted elsewhere, at times.
Value* seen(Draft& d, Value* v) {
  if (d.chance(2)) d.output(v);
  return v;
}

Value* root_of_mean_square(Draft& d, Value* x, DType t, const std::vector<int64_t>& axes) {
  Value* square = d.chance(50) ? d.node("Pow", {x, near(d, t, 2)}) : d.node("Mul", {x, x});
  Value* mean = d.reduce("ReduceMean", seen(d, square), axes, d.chance(95));
  Value* epsilon =
      d.number(t, d.r.one_of({1e-5, 1e-12, 0.0, 1e-3, -1e-5}), d.chance(88) ? Shape{} : d.single());
  return d.node("Sqrt", {seen(d, both_ways(d, "Add", mean, epsilon))});
}

Value* over(Draft& d, Value* x, Value* s, DType t) {
  switch (d.r.below(3)) {
    case 0:
      return d.node("Div", {x, s});
    case 1:
      return both_ways(d, "Mul", x, d.node("Reciprocal", {s}));
    default:
      return both_ways(d, "Mul", x, d.node("Div", {near(d, t, 1), s}));
  }
}

std::vector<int64_t> last_axes(Draft& d, int rank) {
  if (d.chance(10)) return d.axes(rank);
  std::vector<int64_t> axes = {d.chance(50) ? -1 : rank - 1};
  if (rank > 2 && d.chance(20)) axes = {rank - 2, rank - 1};
  return axes;
}

Shape last_of(const Shape& s, const std::vector<int64_t>& axes) {
  Shape last;
  for (size_t i = s.size() - std::min(axes.size(), s.size()); i < s.size(); ++i) last.push_back(s[i]);
  return last;
}

}  // namespace

void draw_fuse_silu(Draft& d) {
  operators_at_times(d, 24);
  d.closeness = Closeness::kRounding;
  Value* x = d.input(formula_type(d), d.shape(2));
  Value* s = seen(d, d.node("Sigmoid", {x}));
  d.output(both_ways(d, "Mul", d.chance(95) ? x : d.node("Neg", {x}), s));
}

void draw_fuse_mish(Draft& d) {
  operators_at_times(d, 18);
  d.closeness = Closeness::kRounding;
  Value* x = d.input(formula_type(d), d.shape(2));
  Value* t = seen(d, d.node("Tanh", {seen(d, d.node("Softplus", {x}))}));
  d.output(both_ways(d, "Mul", x, t));
}

void draw_fuse_hard_swish(Draft& d) {
  operators_at_times(d, 14);
  d.closeness = Closeness::kRounding;
  const DType t = formula_type(d);
  Value* x = d.input(t, d.shape(static_cast<int>(d.r.below(3))));
  if (d.chance(40)) {
    Value* h = d.node(
        "HardSigmoid", {x},
        {{"alpha", static_cast<float>(d.nearly(1.0 / 6))}, {"beta", static_cast<float>(d.nearly(0.5))}});
    d.output(both_ways(d, "Mul", x, seen(d, h)));
    return;
  }
  Value* sum = both_ways(d, "Add", x, near(d, t, 3));
  Value* ramp = d.node("Clip", {seen(d, sum), d.number(t, d.nearly(0)), d.number(t, d.nearly(6))});
  const auto divided = [&](Value* v) {
    return d.chance(50) ? d.node("Div", {v, near(d, t, 6)}) : both_ways(d, "Mul", v, near(d, t, 1.0 / 6));
  };
  if (d.chance(50))
    d.output(divided(seen(d, both_ways(d, "Mul", x, ramp))));
  else
    d.output(both_ways(d, "Mul", x, divided(ramp)));
}

void draw_fuse_gelu(Draft& d) {
  operators_at_times(d, 20);
  d.closeness = Closeness::kRounding;
  const DType t = formula_type(d);
  Value* x = d.input(t, d.shape(static_cast<int>(d.r.below(3))));
  Value* f = nullptr;
  if (d.chance(50)) {
    Value* a = d.chance(50) ? d.node("Div", {x, near(d, t, std::sqrt(2.0))})
                            : both_ways(d, "Mul", x, near(d, t, std::sqrt(0.5)));
    f = d.node("Erf", {seen(d, a)});
  } else {
    Value* cube =
        d.chance(50) ? d.node("Pow", {x, near(d, t, 3)}) : both_ways(d, "Mul", d.node("Mul", {x, x}), x);
    Value* sum = both_ways(d, "Add", x, both_ways(d, "Mul", cube, near(d, t, 0.044715)));
    f = d.node("Tanh", {both_ways(d, "Mul", sum, near(d, t, std::sqrt(2 / M_PI)))});
  }
  Value* sum = both_ways(d, "Add", seen(d, f), near(d, t, 1));
  switch (d.r.below(3)) {
    case 0:
      d.output(both_ways(d, "Mul", both_ways(d, "Mul", x, sum), near(d, t, 0.5)));
      return;
    case 1:
      d.output(both_ways(d, "Mul", both_ways(d, "Mul", x, near(d, t, 0.5)), sum));
      return;
    default:
      d.output(both_ways(d, "Mul", x, both_ways(d, "Mul", sum, near(d, t, 0.5))));
  }
}

void draw_fuse_layer_norm(Draft& d) {
  operators_at_times(d, 17);
  d.closeness = Closeness::kRounding;
  const DType t = formula_type(d);
  const int rank = static_cast<int>(d.r.between(1, 3));
  const Shape shape = d.shape(rank);
  Value* x = d.input(t, shape, d.chance(70) ? Numbers::kPlain : Numbers::kAny);
  const std::vector<int64_t> axes = last_axes(d, rank);
  Value* mean = d.reduce("ReduceMean", x, axes, d.chance(95));
  Value* c = d.node("Sub", {x, mean});
  Value* again = d.chance(15) ? d.node("Sub", {x, d.reduce("ReduceMean", x, axes, true)}) : c;
  Value* s = root_of_mean_square(d, again, t, d.chance(95) ? axes : d.axes(rank));
  Value* y = over(d, seen(d, c), seen(d, s), t);
  const Shape last = d.chance(90) ? last_of(shape, axes) : d.shape(1);
  if (d.chance(70)) y = both_ways(d, "Mul", seen(d, y), d.constant(t, last));
  if (d.chance(70)) y = both_ways(d, "Add", y, d.constant(t, last));
  d.output(y);
}

void draw_fuse_rms_norm(Draft& d) {
  operators_at_times(d, 23);
  d.closeness = Closeness::kRounding;
  const DType t = formula_type(d);
  const int rank = static_cast<int>(d.r.between(1, 3));
  const Shape shape = d.shape(rank);
  Value* x = d.input(t, shape, d.chance(70) ? Numbers::kPlain : Numbers::kAny);
  const std::vector<int64_t> axes = last_axes(d, rank);
  Value* y = over(d, x, root_of_mean_square(d, x, t, axes), t);
  d.output(both_ways(d, "Mul", seen(d, y), d.constant(t, d.chance(92) ? last_of(shape, axes) : d.shape(1))));
}

void draw_regions_to_operators(Draft& d) {
  // Passes that fuse come first here: without a region there is nothing to do.
  static constexpr void (*kFormulas[])(Draft&) = {draw_fuse_silu, draw_fuse_mish,       draw_fuse_hard_swish,
                                                  draw_fuse_gelu, draw_fuse_layer_norm, draw_fuse_rms_norm};
  kFormulas[d.r.below(std::size(kFormulas))](d);
  d.opset = 24;
  d.after.clear();
  d.before = {"fuse_silu", "fuse_mish", "fuse_hard_swish", "fuse_gelu", "fuse_layer_norm", "fuse_rms_norm"};
}

void draw_fuse_softmax(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.opset = d.r.one_of({11, 13, 17});
  const DType t = formula_type(d);
  const int rank = static_cast<int>(d.r.between(2, 4));
  const Shape shape = d.shape(rank);
  Value* x = d.input(t, shape, Numbers::kAny, false);
  if (d.chance(70)) {
    Value* factor =
        d.number(t, d.r.one_of({0.125, 8.0, 0.0, -1.0, 1e-42, 1e30}), d.chance(80) ? Shape{} : d.single());
    x = d.chance(50) ? d.node("Div", {x, factor}) : both_ways(d, "Mul", x, factor);
  }
  if (d.chance(60)) {
    Shape mask = shape;
    for (size_t a = 0; a < mask.size(); ++a)
      if (d.chance(40)) mask[a] = 1;
    if (d.chance(30)) mask.erase_at(0);
    x = both_ways(d, "Add", x, d.input(t, mask, Numbers::kAny, false));
  }
  d.output(d.node("Softmax", {x}, {{"axis", d.chance(85) ? rank - 1 : d.r.between(0, rank - 1)}}));
}

void draw_fuse_gemm(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.opset = d.r.one_of({7, 11, 13, 17});
  const DType t = d.chance(92) ? some_float(d.r) : DType::kInt32;
  const int64_t m = d.r.between(1, 3), k = d.chance(4) ? 0 : d.r.between(1, 3), n = d.r.between(1, 3);
  const Numbers numbers = d.r.one_of({Numbers::kPlain, Numbers::kWhole, Numbers::kAny});
  Value* term = d.constant(t, d.r.one_of<Shape>({{n}, {1, n}, {m, n}, {}, {1}, {1, 1, n}, {m, 1}}));
  switch (d.r.below(3)) {
    case 0: {
      Value* p = d.node("MatMul", {d.input(t, {m, k}, numbers),
                                   d.chance(60) ? d.constant(t, {k, n}) : d.input(t, {k, n}, numbers)});
      if (d.chance(5)) d.output(p);
      d.output(
          both_ways(d, "Add", p, d.chance(70) ? term : d.input(t, d.chance(50) ? Shape{n} : Shape{m, n})));
      return;
    }
    case 1: {
      Value* a = d.input(t, {k, m}, numbers);
      Value* b = d.constant(t, {n, k});
      Value* turned =
          d.node("Transpose", {a},
                 d.chance(50) ? AttributeList{{"perm", std::vector<int64_t>{1, 0}}} : AttributeList{});
      AttributeList attributes = {{"transB", int64_t{1}}};
      if (d.chance(30)) attributes.emplace_back("alpha", 0.5F);
      d.output(d.node("Gemm", {turned, b, d.constant(t, {n})}, attributes));
      return;
    }
    default: {
      const int64_t s = d.r.between(1, 3);
      Value* x = d.input(t, {m, s * std::max<int64_t>(k, 1)}, numbers);
      Value* front = d.node("Reshape", {x, d.ints({m, s, std::max<int64_t>(k, 1)})});
      Value* p = d.node("MatMul", {front, d.constant(t, {std::max<int64_t>(k, 1), n})});
      Value* sum = both_ways(d, "Add", p, d.constant(t, {n}));
      d.output(d.node("Reshape", {sum, d.ints(d.r.one_of<std::vector<int64_t>>(
                                           {{m * s, n}, {-1, n}, {0, -1}, {m, s, n}, {0, 0, -1}}))}));
    }
  }
}

void draw_merge_products(Draft& d) {
  d.closeness = Closeness::kRounding;
  d.opset = d.r.one_of({7, 11, 13, 18});
  const DType t = some_float(d.r);
  const int64_t k = d.r.between(1, 3);
  const bool gemm = d.chance(40), turned = gemm && d.chance(50);
  const Shape lead = gemm ? Shape{d.r.between(1, 3)} : d.shape(static_cast<int>(d.r.below(3)));
  Shape of = lead;
  of.push_back(k);
  Value* x = d.input(t, of, d.r.one_of({Numbers::kPlain, Numbers::kAny}));
  const bool even = d.chance(50);
  const int64_t width = d.r.between(1, 3);
  for (int i = 0; i < 3; ++i) {
    const int64_t n = even ? width : d.r.between(1, 3);
    Value* w = d.constant(t, turned ? Shape{n, k} : Shape{k, n});
    Value* y = nullptr;
    if (gemm) {
      std::vector<Value*> inputs = {x, w};
      if (d.opset < 11 || d.chance(70)) inputs.push_back(d.constant(t, d.chance(90) ? Shape{n} : Shape{1}));
      y = d.node("Gemm", inputs, turned ? AttributeList{{"transB", int64_t{1}}} : AttributeList{});
    } else {
      y = d.node("MatMul", {x, w});
      if (d.chance(8)) d.output(y);
      if (d.chance(70))
        y = both_ways(d, "Add", y,
                      d.constant(t, d.chance(85)   ? Shape{n}
                                    : d.chance(50) ? Shape{1, n}
                                                   : Shape{1}));
    }
    d.output(d.chance(40) ? d.node("Reciprocal", {y}) : y);
  }
}

}  // namespace assay::fuzz
