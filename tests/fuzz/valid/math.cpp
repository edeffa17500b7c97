// Arithmetic, comparison, conversion, products and reductions.
#include <algorithm>
#include <cmath>

#include "fuzz/valid/recipes.h"
#include "tensor/convert.h"

namespace assay::fuzz {
namespace {

void give_simple_attributes(Draft& d) {
  for (const AttributeDef& a : d.schema.attributes) {
    if (a.kind == "float") d.number(a.name, 0.25, 2);
    if (a.kind == "int") d.flag(a.name);
  }
}

bool has_no_sign(DType t) { return (is_integer(t) && !is_signed_integer(t)) || t == DType::kFloat8E8M0; }

bool is_float8(DType t) { return is_float(t) && bit_width(t) == 8; }

/// Before version 7, operators of two inputs broadcast only when told to, along an axis.
void make_legacy_binary(Draft& d, const Shape& base, double low) {
  const auto& inputs = d.schema.inputs;
  d.input(inputs[0].name, base);
  Shape other = base;
  if (d.r.chance(50) && !base.empty()) {
    const int64_t first = d.r.between(0, base.rank() - 1), last = d.r.between(first + 1, base.rank());
    other = Shape(base.begin() + first, base.begin() + last);
    d.attr("broadcast", int64_t{1});
    if (last < base.rank() || d.r.chance(50)) d.attr("axis", first);
  }
  d.input(inputs[1].name, other, low);
}

}  // namespace

void make_pointwise(Draft& d) { give_simple_attributes(d); }

/// Binary operators. Integers are divided by positive numbers, and raised to them, only.
void make_binary(Draft& d) {
  const Shape base = d.shape(0, 4);
  const auto& inputs = d.schema.inputs;
  const bool divides = d.is("Div") || d.is("Mod"), power = d.is("Pow"), shifts = d.is("BitShift");
  const bool whole = !is_float(d.input_dtype(inputs[0].name));
  const double low = divides ? (whole ? 1 : 0.25) : power && whole ? 0 : shifts ? 0 : -4;
  if (shifts) d.attr("direction", std::string(d.r.one_of({"LEFT", "RIGHT"})));
  if (d.is("Mod") && (!whole || d.r.chance(30))) d.attr("fmod", int64_t{1});
  if (d.since < 7 && d.has_attr("broadcast")) return make_legacy_binary(d, base, low);
  const bool swapped = d.r.chance(40);
  // Roots of negative numbers are NaN, for which there is no integer.
  d.input(inputs[0].name, swapped ? d.broadcast_to(base) : base, power && whole ? 0 : -4);
  d.input(inputs[1].name, swapped ? base : d.broadcast_to(base), low, 4);
}

void make_variadic(Draft& d) {
  const Shape base = d.shape(0, 4);
  const DType t = d.dtype("T");
  for (int64_t n = d.r.between(1, 4); n > 0; --n)
    d.more(d.values(t, d.since >= 8 ? d.broadcast_to(base) : base));
}

void make_clip(Draft& d) {
  const Shape base = d.shape(0, 4);
  d.input("input", base);
  if (d.has_attr("min")) {
    d.number("min", -3, 0);
    d.number("max", 0, 3);
  } else {
    d.maybe_input("min", {}, 60, -3, 0);
    d.maybe_input("max", {}, 60, 1, 3);
  }
}

void make_prelu(Draft& d) {
  const Shape base = d.shape(1, 4);
  d.input("X", base);
  if (d.since >= 7) return d.input("slope", d.broadcast_to(base));
  d.input("slope", d.r.chance(50) || base.rank() < 2 ? Shape{1} : Shape{base[1]});
}

void make_cast(Draft& d) {
  const Shape base = d.shape(0, 4);
  const DType from = d.dtype("T1"), to = d.is("Cast") ? d.dtype("T2") : DType::kUndefined;
  const double low = d.r.chance(50) ? 0 : -4;
  // A number that does not fit an integer type, or is negative and becomes float8e8m0, is converted in an
  // unspecified way.
  const bool narrow = has_no_sign(to);
  Tensor x = d.values(from, base, narrow ? 0 : low, 1);
  if (from != DType::kString) x = d.values(from, base, narrow ? 0 : low, to == DType::kInt2 ? 1 : 3);
  if (from == DType::kString)
    for (std::string& s : x.mutable_span<std::string>())
      s = is_integer(to) || narrow ? d.r.one_of({"1", "0", "3", "2"})
                                   : d.r.one_of({"1", "0.5", "3", "1e2", "-7.25"});
  if (is_float(from) && is_float(to) && d.r.chance(40)) x = d.values(from, base, narrow ? 0 : -1000, 1000);
  d.input("input", x);
  if (is_float8(to)) d.flag("saturate");
  if (d.since < 6 && d.is("Cast")) return d.attr("to", std::string(onnx_name(to)));
  d.attr("to", static_cast<int64_t>(to));
}

void make_cast_like(Draft& d) {
  const DType to = d.dtype("T2");
  const bool narrow = has_no_sign(to);
  if (d.dtype("T1") == DType::kString) d.choose("T1", {DType::kFloat32});
  d.input("input", d.shape(0, 4), narrow ? 0 : -1, 1);
  d.input("target_type", d.shape(0, 2));
  if (is_float8(to)) d.flag("saturate");
}

void make_bit_cast(Draft& d) {
  d.input("input", d.shape(0, 3));
  std::vector<DType> same;
  for (int t = 1; t < kDTypeCount; ++t)
    if (static_cast<DType>(t) != DType::kString && d.input_dtype("input") != DType::kString &&
        bit_width(static_cast<DType>(t)) == bit_width(d.input_dtype("input")))
      same.push_back(static_cast<DType>(t));
  d.choose("T2", same);
  d.attr("to", static_cast<int64_t>(d.dtype("T2")));
}

void make_range(Draft& d) {
  const DType t = d.dtype("T");
  const bool down = d.r.chance(40) && (is_float(t) || is_signed_integer(t));
  d.input("start", {}, down ? 1 : 0, down ? 6 : 3);
  d.input("limit", {}, down ? -4 : 2, down ? 2 : 8);
  d.input("delta", down ? d.values(t, {}, -2, -1) : d.values(t, {}, 1, 2));
}

void make_matmul(Draft& d) {
  const int64_t k = d.extent();
  Shape batch = d.shape(0, 2), a = d.broadcast_to(batch), b = d.broadcast_to(batch);
  a.push_back(d.extent());
  a.push_back(k);
  b.push_back(k);
  b.push_back(d.extent());
  if (d.r.chance(10)) a = {k};
  if (d.r.chance(10)) b = {k};
  d.input("A", a);
  d.input("B", b);
}

void make_gemm(Draft& d) {
  const int64_t m = d.extent(), n = d.extent(), k = d.extent();
  const bool ta = d.r.chance(40), tb = d.r.chance(40);
  if (ta) d.attr("transA", int64_t{1});
  if (tb) d.attr("transB", int64_t{1});
  // Integer matrices are scaled by whole numbers, so that nothing is left to a choice of rounding.
  const bool whole = !is_float(d.dtype("T"));
  for (const char* name : {"alpha", "beta"})
    if (d.r.chance(50)) d.attr(name, whole ? static_cast<float>(d.r.between(1, 3)) : 0.25f);
  d.input("A", ta ? Shape{k, m} : Shape{m, k});
  d.input("B", tb ? Shape{n, k} : Shape{k, n});
  const bool may_miss = d.since >= 11 && d.r.chance(30);
  if (d.since < 7) {
    const bool broadcast = d.r.chance(50);
    if (broadcast) d.attr("broadcast", int64_t{1});
    return d.input("C", broadcast ? Shape{n} : Shape{m, n});
  }
  if (!may_miss) d.input("C", d.broadcast_to({m, n}));
}

void make_einsum(Draft& d) {
  const std::string letters = d.r.chance(50) ? "ijkl" : "abcd";
  std::vector<int64_t> extents;
  for (size_t i = 0; i < letters.size(); ++i) extents.push_back(d.extent());
  std::string equation, used;
  const DType t = d.dtype("T");
  for (int64_t n = d.r.between(1, 3), i = 0; i < n; ++i) {
    std::string term;
    Shape shape;
    for (size_t a = 0; a < letters.size(); ++a) {
      if (!d.r.chance(55)) continue;
      term += letters[a];
      shape.push_back(extents[a]);
      if (used.find(letters[a]) == std::string::npos) used += letters[a];
    }
    equation += (i > 0 ? "," : "") + term;
    d.more(d.values(t, shape, -2, 2));
  }
  if (d.r.chance(80)) {
    std::string result;
    for (const char a : used)
      if (d.r.chance(60))
        result.insert(result.begin() + static_cast<std::ptrdiff_t>(d.r.below(result.size() + 1)), a);
    equation += "->" + result;
  }
  d.attr("equation", equation);
}

void make_det(Draft& d) {
  Shape s = d.shape(0, 2);
  const int64_t n = d.positive();
  s.push_back(n);
  s.push_back(n);
  d.input("X", s);
}

void make_cumulative(Draft& d) {
  const Shape s = d.shape(1, 4);
  d.input("x", s, -2, 2);
  d.integer("axis", d.axis(s.rank()), 0);
  d.flag("exclusive");
  d.flag("reverse");
}

void make_reduction(Draft& d) {
  const Shape s = d.shape(d.since >= 18 ? 0 : 1, 4);
  // Sums of logarithms and roots stay real.
  d.input("data", s, d.is("ReduceLogSum") ? 0.25 : -3, 3);
  if (d.r.chance(70)) {
    const std::vector<int64_t> axes = d.axes(s.rank());
    if (!axes.empty() || d.has_input("axes")) d.ints("axes", axes);
  }
  d.flag("keepdims");
  d.flag("noop_with_empty_axes");
}

void make_arg(Draft& d) {
  const Shape s = d.positive_shape(1, 4);
  d.input("data", s);
  if (d.r.chance(80)) d.attr("axis", d.axis(s.rank()));
  d.flag("keepdims");
  d.flag("select_last_index");
}

void make_softmax(Draft& d) {
  const Shape s = d.shape(1, 4);
  d.input("input", s);
  if (d.r.chance(70) || (d.since < 13 && s.rank() < 2)) d.attr("axis", d.axis(s.rank()));
}

void make_lp_normalization(Draft& d) {
  const Shape s = d.shape(1, 4);
  d.input("input", s);
  if (d.r.chance(70)) d.attr("axis", d.axis(s.rank(), 1));
  if (d.r.chance(70)) d.attr("p", d.r.between(1, 2));
}

void make_mean_variance(Draft& d) {
  const Shape s = d.positive_shape(4, 4);
  d.input("X", s);
  if (d.r.chance(50)) return;
  std::vector<int64_t> axes = d.axes(4);
  if (!axes.empty()) d.attr("axes", axes);
}

void make_gelu(Draft& d) { d.word("approximate", {"none", "tanh"}); }

void make_is_special(Draft& d) {
  give_simple_attributes(d);
  const Shape s = d.shape(0, 3);
  const DType t = d.input_dtype("X");
  Tensor x = Tensor::allocate(DType::kFloat64, s);
  for (double& v : x.mutable_span<double>()) v = d.r.one_of({0.0, 1.5, HUGE_VAL, -HUGE_VAL, std::nan("")});
  d.input("X", convert(x, t));
}

}  // namespace assay::fuzz
