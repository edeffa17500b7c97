// Bitwise operators by integer arithmetic, which wraps like truncation of bits.
#include <algorithm>
#include <limits>
#include <numeric>

#include "convert/expansions/parts.h"
#include "convert/steps.h"
#include "tensor/convert.h"

namespace assay {
namespace {

Value* powers_of_2(Rewrite& r, const std::vector<int>& exponents, DType dtype) {
  Tensor powers = Tensor::allocate(DType::kUInt64, {static_cast<int64_t>(exponents.size())});
  for (size_t i = 0; i < exponents.size(); ++i)
    powers.mutable_data<uint64_t>()[i] = uint64_t{1} << exponents[i];
  return r.constant(convert(powers, dtype), "powers");
}

/// v / power, rounded down; the power is not negative.
Value* floor_quotient(Rewrite& r, Value* v, Value* power, bool is_signed) {
  Value* quotient = r.add("Div", {v, power});
  if (!is_signed) return quotient;
  Value* rest = r.add("Sub", {v, r.add("Mul", {quotient, power})});
  Value* is_negative = r.add("Less", {cast(r, rest, DType::kFloat64), r.number(0, DType::kFloat64, "zero")});
  return r.add("Sub", {quotient, cast(r, is_negative, DType::kInt64)});
}

/// Products with or quotients by powers of 2 from a table: two of them, because no type holds the power for a
/// shift by its whole width, and larger shifts are equal to that one.
void expand_bit_shift(Rewrite& r) {
  const DType t = r.dtype(0);
  const bool left = r.get_string("direction", "") == "LEFT", is_signed = is_signed_integer(t);
  const DType wide = is_signed ? DType::kInt64 : DType::kUInt64;
  const int width = bit_width(t);
  std::vector<int> halves, rests;
  for (int n = 0; n <= width; ++n) {
    halves.push_back(n / 2);
    rests.push_back(n - n / 2);
  }
  Value* number = cast(r, r.input(1), DType::kFloat64);
  Value* below = r.add("Less", {number, r.number(0, DType::kFloat64, "zero")});
  Value* above = r.add("Greater", {number, r.number(width - 1, DType::kFloat64, "last")});
  Value* is_outside = r.add("Or", {below, above});
  Value* by =
      r.add("Mul", {cast(r, r.input(1), DType::kInt64), cast(r, r.add("Not", {is_outside}), DType::kInt64)});
  by = r.add("Add", {by, r.add("Mul", {cast(r, is_outside, DType::kInt64), whole(r, width, "width")})});
  Value* x = cast(r, r.input(0), wide);
  for (const std::vector<int>* exponents : {&halves, &rests}) {
    Value* power = r.add("Gather", {powers_of_2(r, *exponents, wide), by});
    x = left ? r.add("Mul", {x, power}) : floor_quotient(r, x, power, is_signed);
  }
  r.replace({cast(r, x, t)});
}

/// Integers of the same width have the same bits where a conversion wraps.
void expand_bit_cast(Rewrite& r) {
  const DType from = r.dtype(0), to = static_cast<DType>(r.get_int("to", 0));
  if (from == to) return r.replace({r.input(0)});
  const auto is_plain = [](DType t) { return is_integer(t) && bit_width(t) >= 8; };
  if (!is_plain(from) || !is_plain(to))
    no_equivalent("the bits of {} as {}", dtype_name(from), dtype_name(to));
  r.replace({cast(r, r.input(0), to)});
}

/// Versions before 28 have no signed integers, and do not define a shift by the width of the type.
void define_shift(Rewrite& r) {
  const DType t = r.dtype(0);
  if (const std::optional<Tensor> by = r.constant_value(r.input(1)); by && !is_signed_integer(t)) {
    const std::vector<int64_t> shifts = by->to_int64();
    if (std::all_of(shifts.begin(), shifts.end(), [&](int64_t n) { return n >= 0 && n < bit_width(t); }))
      return;
  }
  r.set_opset(10);
  expand_bit_shift(r);
}

/// Every bit as a number on a new last axis, combined by arithmetic and put together again.
void combine_bits(Rewrite& r, Value* (*combine)(Rewrite& r, Value* a, Value* b, Value* product)) {
  const DType t = r.dtype(0), wide = DType::kUInt64;
  std::vector<int> exponents(static_cast<size_t>(bit_width(t)));
  std::iota(exponents.begin(), exponents.end(), 0);
  Value *powers = powers_of_2(r, exponents, wide), *two = r.number(2, wide, "two");
  const auto bits = [&](size_t i) {
    Value* shifted = r.add("Div", {unsqueeze(r, cast(r, r.input(i), wide), {-1}), powers});
    return r.add("Sub", {shifted, r.add("Mul", {r.add("Div", {shifted, two}), two})});
  };
  Value *a = bits(0), *b = bits(1);
  Value* both = combine(r, a, b, r.add("Mul", {a, b}));
  Value* sum =
      r.add("ReduceSum", {r.add("Mul", {both, powers}), r.ints({-1}, "axes")}, {{"keepdims", int64_t{0}}});
  r.replace({cast(r, sum, t)});
}

void expand_bitwise_and(Rewrite& r) {
  combine_bits(r, [](Rewrite&, Value*, Value*, Value* product) { return product; });
}
void expand_bitwise_or(Rewrite& r) {
  combine_bits(r, [](Rewrite& r, Value* a, Value* b, Value* product) {
    return r.add("Sub", {r.add("Add", {a, b}), product});
  });
}
void expand_bitwise_xor(Rewrite& r) {
  combine_bits(r, [](Rewrite& r, Value* a, Value* b, Value* product) {
    return r.add("Sub", {r.add("Add", {a, b}), r.add("Add", {product, product})});
  });
}

/// -1 - x, and for unsigned types the largest number - x: in a type that has both.
void expand_bitwise_not(Rewrite& r) {
  const DType t = r.dtype(0);
  const bool is_unsigned = t == DType::kUInt8 || t == DType::kUInt16 || t == DType::kUInt32;
  if (t == DType::kUInt64) {
    Value* largest = r.constant(Tensor::scalar(std::numeric_limits<uint64_t>::max()), "largest");
    return r.replace({r.add("Sub", {largest, r.input(0)})});
  }
  const int64_t top = is_unsigned ? (int64_t{1} << bit_width(t)) - 1 : -1;
  Value* x = cast(r, r.input(0), DType::kInt64);
  r.replace({cast(r, r.add("Sub", {whole(r, top, "top"), x}), t)});
}

}  // namespace

constinit const Expansion expansion_onnx_BitShift = {
    "", "BitShift", 10, "products with and quotients by powers of 2", expand_bit_shift};
constinit const Expansion expansion_onnx_BitwiseAnd = {"", "BitwiseAnd", 13, "arithmetic on every bit",
                                                       expand_bitwise_and};
constinit const Expansion expansion_onnx_BitwiseOr = {"", "BitwiseOr", 13, "arithmetic on every bit",
                                                      expand_bitwise_or};
constinit const Expansion expansion_onnx_BitwiseXor = {"", "BitwiseXor", 13, "arithmetic on every bit",
                                                       expand_bitwise_xor};
constinit const Expansion expansion_onnx_BitwiseNot = {"", "BitwiseNot", 13, "Sub", expand_bitwise_not};
constinit const Expansion expansion_onnx_BitCast = {"", "BitCast", 13, "Cast of integers", expand_bit_cast};
constinit const Adapter adapter_bit_shift_range = {
    .name = "bit_shift_range", .summary = "signed types; any shift is defined", .down = define_shift};

}  // namespace assay
