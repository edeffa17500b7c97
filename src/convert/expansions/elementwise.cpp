// Element-wise functions by older ones that are exact or round alike: for NaN, infinities and zeros of
// both signs, too.
#include <algorithm>
#include <cmath>
#include <limits>

#include "convert/expansions/parts.h"
#include "convert/steps.h"

namespace assay {
namespace {

/// Comparisons with 0 of versions that have no integers: a double has the sign of every integer.
Value* as_float(Rewrite& r, size_t i) {
  return is_float(r.dtype(i)) ? r.input(i) : cast(r, r.input(i), DType::kFloat64);
}

/// Every number is below 1 or above 0.
void expand_is_nan(Rewrite& r) {
  const DType t = r.dtype(0);
  Value* below = r.add("Less", {r.input(0), r.number(1, t, "one")});
  Value* above = r.add("Greater", {r.input(0), r.number(0, t, "zero")});
  r.replace({r.add("Not", {r.add("Or", {below, above})})});
}

void expand_is_inf(Rewrite& r) {
  const DType t = r.dtype(0);
  const double largest = largest_number(t);
  Value* found = nullptr;
  if (r.get_int("detect_positive", 1) != 0)
    found = r.add("Greater", {r.input(0), r.number(largest, t, "largest")});
  if (r.get_int("detect_negative", 1) != 0) {
    Value* below = r.add("Less", {r.input(0), r.number(-largest, t, "lowest")});
    found = found == nullptr ? below : r.add("Or", {found, below});
  }
  if (found == nullptr) {
    // Neither sign is requested: false everywhere.
    Value* low = r.number(-std::numeric_limits<double>::infinity(), t, "minus_infinity");
    found = r.add("Less", {r.input(0), low});
  }
  r.replace({found});
}

/// 1 above 0, -1 below; NaN is propagated by a product with 0 that excludes infinities.
void expand_sign(Rewrite& r) {
  const DType t = r.dtype(0), wide = is_float(t) ? t : DType::kFloat64;
  Value *x = as_float(r, 0), *zero = r.number(0, wide, "zero");
  Value* above = cast(r, r.add("Greater", {x, zero}), wide);
  Value* below = cast(r, r.add("Less", {x, zero}), wide);
  Value* sign = r.add("Sub", {above, below});
  if (is_float(t)) sign = r.add("Add", {sign, r.add("Mul", {r.add("Tanh", {x}), zero})});
  r.replace({cast(r, sign, t)});
}

/// (exp |x| + exp -|x|) / 2, by halves of the exponent: the sum overflows only where the result does.
Value* cosh(Rewrite& r) {
  const DType t = r.dtype(0);
  Value* half = r.number(0.5, t, "half");
  Value* root = r.add("Exp", {r.add("Mul", {r.add("Abs", {r.input(0)}), half})});
  Value* inverse = r.add("Reciprocal", {root});
  Value* up = r.add("Mul", {root, r.add("Mul", {root, half})});
  return r.add("Add", {up, r.add("Mul", {inverse, r.add("Mul", {inverse, half})})});
}

void expand_cosh(Rewrite& r) { r.replace({cosh(r)}); }

/// Near 0, where a difference of exponentials cancels, tanh does not.
void expand_sinh(Rewrite& r) { r.replace({r.add("Mul", {r.add("Tanh", {r.input(0)}), cosh(r)})}); }

void expand_shrink(Rewrite& r) {
  const DType t = r.dtype(0);
  const double lambd = r.get_float("lambd", 0.5), bias = r.get_float("bias", 0);
  if (!is_float(t)) no_equivalent("elements of type {}, which are rounded after the bias", dtype_name(t));
  Value* x = r.input(0);
  Value* width = r.number(bias, t, "bias");
  Value* below = r.add("Less", {x, r.number(-lambd, t, "lower")});
  Value* above = r.add("Greater", {x, r.number(lambd, t, "upper")});
  // Otherwise it is NaN, which is kept or becomes 0.
  Value* is_number =
      r.add("Or", {r.add("Less", {x, r.number(1, t, "one")}), r.add("Greater", {x, r.number(0, t, "zero")})});
  r.set_opset(9);
  Value* rest = r.add("Where", {is_number, r.number(0, t, "nothing"), x});
  Value* high = r.add("Where", {above, r.add("Sub", {x, width}), rest});
  r.replace({r.add("Where", {below, r.add("Add", {x, width}), high})});
}

/// The remainder of integers by their quotient, which is rounded towards 0.
void expand_mod(Rewrite& r) {
  const DType t = r.dtype(0);
  if (is_float(t)) no_equivalent("the remainder of floats, which is exact however large the quotient is");
  const bool is_unsigned = t == DType::kUInt64 || t == DType::kUInt32;
  const DType wide = is_unsigned ? t : DType::kInt64;
  Value *a = cast(r, r.input(0), wide), *b = cast(r, r.input(1), wide);
  Value* rest = r.add("Sub", {a, r.add("Mul", {r.add("Div", {a, b}), b})});
  if (is_signed_integer(t) && r.get_int("fmod", 0) == 0) {
    // It has the sign of a. If that differs from the sign of b, it is off by one b.
    const auto is_negative = [&](Value* v) {
      return r.add("Less", {cast(r, v, DType::kFloat64), r.number(0, DType::kFloat64, "zero")});
    };
    Value* differs = r.add("Xor", {is_negative(rest), is_negative(b)});
    Value* moves = r.add("And", {differs, cast(r, rest, DType::kBool)});
    rest = r.add("Add", {rest, r.add("Mul", {cast(r, moves, wide), b})});
  }
  r.replace({cast(r, rest, t)});
}

/// The floor, or the ceiling above a half and from halves of odd floors. Ceil keeps the sign of -0.3.
void expand_round(Rewrite& r) {
  const DType t = r.dtype(0);
  Value *x = r.input(0), *half = r.number(0.5, t, "half");
  Value* floor = r.add("Floor", {x});
  Value* rest = r.add("Sub", {x, floor});
  Value* twice = r.number(2, t, "two");
  Value* even = r.add("Mul", {r.add("Floor", {r.add("Mul", {floor, half})}), twice});
  Value* is_odd = r.add("Greater", {r.add("Sub", {floor, even}), half});
  Value* from_half = r.add("Not", {r.add("Less", {rest, half})});
  Value* is_up = r.add("Or", {r.add("Greater", {rest, half}), r.add("And", {from_half, is_odd})});
  r.replace({r.add("Where", {is_up, r.add("Ceil", {x}), floor})});
}

}  // namespace

constinit const Expansion expansion_onnx_Cosh = {"", "Cosh", 8, "Exp", expand_cosh};
constinit const Expansion expansion_onnx_IsInf = {"", "IsInf", 9, "comparisons with the largest numbers",
                                                  expand_is_inf};
constinit const Expansion expansion_onnx_IsNaN = {"", "IsNaN", 8, "comparisons that NaN fails",
                                                  expand_is_nan};
constinit const Expansion expansion_onnx_Mod = {"", "Mod", 9, "Div, Mul and Sub", expand_mod};
constinit const Expansion expansion_onnx_Round = {"", "Round", 10, "Floor and Ceil", expand_round};
constinit const Expansion expansion_onnx_Shrink = {"", "Shrink", 8, "comparisons and Where", expand_shrink};
constinit const Expansion expansion_onnx_Sign = {"", "Sign", 8, "comparisons with 0", expand_sign};
constinit const Expansion expansion_onnx_Sinh = {"", "Sinh", 8, "Tanh and Exp", expand_sinh};

}  // namespace assay
