#include "kernels/pointwise/quantized_pair.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/quantized_pair.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/int8/quotient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using QuantizedF = hn::ScalableTag<float>;
using QuantizedV = hn::Vec<QuantizedF>;
inline constexpr int64_t kQuantizedLanes = static_cast<int64_t>(hn::MaxLanes(QuantizedF()));

template <typename A>
HWY_INLINE QuantizedV load_quantized(const A* p) {
  const QuantizedF f;
  const hn::Rebind<A, QuantizedF> narrow;
  const hn::RebindToSigned<QuantizedF> i32;
  return hn::ConvertTo(f, hn::PromoteTo(i32, hn::LoadU(narrow, p)));
}

/// x * y, rounded: no sum that a compiler might fuse with what follows.
HWY_INLINE QuantizedV rounded_product(QuantizedV x, QuantizedV y) {
  return hn::MulAdd(x, y, hn::Set(QuantizedF(), -0.0F));
}

/// The instructions one by one.
template <typename Q>
struct ExactPair {
  const QuantizedPair::Form& form;

  HWY_INLINE QuantizedV quantized(QuantizedV number) const {
    const QuantizedF f;
    const QuantizedV v = hn::Min(hn::Max(number, hn::Set(f, form.low)), hn::Set(f, form.high));
    const QuantizedV steps =
        rounded_quotient(f, v, hn::Set(f, form.scale), hn::Set(f, inverse_of(form.scale)));
    return hn::Min(
        hn::Max(hn::Add(steps, hn::Set(f, form.zero_point)), hn::Set(f, float{hwy::LimitsMin<Q>()})),
        hn::Set(f, float{hwy::LimitsMax<Q>()}));
  }
  /// Of one value.
  template <typename A, typename Other>
  HWY_INLINE Q one(const A* a, const Other& other, int64_t i) const {
    const float x = form.operands[0].reals[static_cast<uint8_t>(a[i])], y = other.real(i);
    const float number = std::min(std::max(form.is_product ? x * y : x + y, form.low), form.high);
    const float level = std::nearbyint(number / form.scale) + form.zero_point;
    return static_cast<Q>(std::min(std::max(level, float{hwy::LimitsMin<Q>()}), float{hwy::LimitsMax<Q>()}));
  }
  /// Of as many as a vector has lanes.
  template <typename A, typename Other>
  HWY_INLINE QuantizedV of(const A* a, const Other& other, int64_t i) const {
    const QuantizedF f;
    const QuantizedV x =
        rounded_product(hn::Sub(load_quantized(a + i), hn::Set(f, form.operands[0].zero_point)),
                        hn::Set(f, form.operands[0].scale));
    return quantized(form.is_product ? hn::Mul(x, other.reals(i)) : hn::Add(x, other.reals(i)));
  }
};

/// In levels of the result a pair is (a - centre) * factor + start, all but a from the other operand.
struct PairTerms {
  QuantizedV factor, start;
};

/// The constants of that.
struct PairSteps {
  explicit PairSteps(const QuantizedPair::Form& form)
      : first(static_cast<float>(double{form.operands[0].scale} / form.scale)),
        zero_point(form.zero_point),
        centre(form.operands[0].zero_point) {}

  float first;  ///< levels in a step of a, or, in products, for a number of the other operand's
  float zero_point, centre;
};

/// As many values as there are of a.
template <bool kIsProduct, typename B>
class PairedValues {
 public:
  PairedValues(const QuantizedPair::Form& form, const void* b)
      : b_(static_cast<const B*>(b)), other_(form.operands[1]) {
    const QuantizedF f;
    const PairSteps steps(form);
    const double step = double{other_.scale} / form.scale;
    first_ = hn::Set(f, steps.first);
    if constexpr (kIsProduct) {
      step_ = hn::Set(f, static_cast<float>(double{form.operands[0].scale} * step));
      start_ = hn::Set(f, steps.zero_point);
      centre_ = hn::Set(f, other_.zero_point);
    } else {
      step_ = hn::Set(f, static_cast<float>(step));
      start_ = hn::Set(f, static_cast<float>(steps.zero_point - double{steps.centre} * steps.first -
                                             other_.zero_point * step));
      centre_ = hn::Zero(f);
    }
  }

  HWY_INLINE PairTerms terms(int64_t i) const {
    const QuantizedV b = load_quantized(b_ + i);
    if constexpr (kIsProduct) return {hn::Mul(hn::Sub(b, centre_), step_), start_};
    return {first_, hn::MulAdd(b, step_, start_)};
  }
  float real(int64_t i) const { return other_.reals[static_cast<uint8_t>(b_[i])]; }
  HWY_INLINE QuantizedV reals(int64_t i) const {
    const QuantizedF f;
    return rounded_product(hn::Sub(load_quantized(b_ + i), hn::Set(f, other_.zero_point)),
                           hn::Set(f, other_.scale));
  }
  const B* values() const { return b_; }

 private:
  const B* b_;
  const QuantizedPair::Operand& other_;
  QuantizedV first_, step_, start_, centre_;
};

/// Numbers that lie ready.
template <bool kIsProduct>
class PairedNumbers {
 public:
  PairedNumbers(const QuantizedPair::Form& form, const float* numbers) : numbers_(numbers) {
    const QuantizedF f;
    const PairSteps steps(form);
    first_ = hn::Set(f, steps.first);
    start_ =
        hn::Set(f, kIsProduct ? steps.zero_point
                              : static_cast<float>(steps.zero_point - double{steps.centre} * steps.first));
    step_ = hn::Set(f, static_cast<float>(1 / double{form.scale}));
  }

  HWY_INLINE PairTerms terms(int64_t i) const {
    const QuantizedV number = hn::LoadU(QuantizedF(), numbers_ + i);
    if constexpr (kIsProduct) return {hn::Mul(number, first_), start_};
    return {first_, hn::MulAdd(number, step_, start_)};
  }
  float real(int64_t i) const { return numbers_[i]; }
  HWY_INLINE QuantizedV reals(int64_t i) const { return hn::LoadU(QuantizedF(), numbers_ + i); }

 private:
  const float* numbers_;
  QuantizedV first_, start_, step_;
};

/// Without the instructions for sums in whole numbers, or of numbers that are ready.
template <typename Q>
struct NoWholeSums {
  explicit NoWholeSums(const ExactPair<Q>&) {}
  HWY_INLINE bool are_there() const { return false; }
  template <typename A, typename Other>
  HWY_INLINE bool store(const A*, const Other&, int64_t, uint8_t*) const {
    return false;
  }
};

template <typename Q, bool kIsProduct, typename Other>
struct WholeSumsOf {
  using type = NoWholeSums<Q>;
};

#if HWY_TARGET == HWY_AVX3
/// Sums of 64 pairs as Form::whole has them.
template <typename Q>
class WholeSums {
 public:
  explicit WholeSums(const ExactPair<Q>& exact)
      : exact_(exact),
        least_(_mm512_set1_epi8(bound_of(exact, -std::numeric_limits<float>::infinity()))),
        most_(_mm512_set1_epi8(bound_of(exact, std::numeric_limits<float>::infinity()))),
        flips_{flip_of(exact.form.operands[0]), flip_of(exact.form.operands[1])},
        high_(pairs_of(whole().factors[0] >> kSplit, whole().factors[1] >> kSplit)),
        low_(pairs_of(whole().factors[0] & kLowBits, whole().factors[1] & kLowBits)),
        start_(_mm512_set1_epi32(whole().start)),
        fraction_(_mm512_set1_epi32((1 << whole().bits) - 1)),
        doubtful_(_mm512_set1_epi32(whole().doubtful)),
        bits_(_mm_cvtsi32_si128(whole().bits)) {}

  HWY_INLINE bool are_there() const { return whole().bits != 0; }

  /// False where more than a few sums may be on the other side of a tie.
  template <typename A, typename Other>
  HWY_INLINE bool store(const A* a, const Other& other, int64_t i, uint8_t* q) const {
    const __m512i x = _mm512_xor_si512(_mm512_loadu_si512(a + i), flips_[0]),
                  y = _mm512_xor_si512(_mm512_loadu_si512(other.values() + i), flips_[1]);
    const __m512i zero = _mm512_setzero_si512(), lower = _mm512_unpacklo_epi8(x, y),
                  upper = _mm512_unpackhi_epi8(x, y);
    const __m512i words[kParts] = {_mm512_unpacklo_epi8(lower, zero), _mm512_unpackhi_epi8(lower, zero),
                                   _mm512_unpacklo_epi8(upper, zero), _mm512_unpackhi_epi8(upper, zero)};
    __m512i levels[kParts], fractions[kParts];
    __m512i nearest = fraction_;
    ASSAY_UNROLL
    for (int part = 0; part < kParts; ++part) {
      const __m512i high = _mm512_slli_epi32(_mm512_madd_epi16(words[part], high_), kSplit);
      const __m512i low = _mm512_add_epi32(_mm512_madd_epi16(words[part], low_), start_);
      const __m512i sum = _mm512_add_epi32(high, low);
      fractions[part] = _mm512_and_si512(sum, fraction_);
      nearest = _mm512_min_epu32(nearest, fractions[part]);
      levels[part] = _mm512_sra_epi32(sum, bits_);
    }
    const __m512i first = _mm512_packs_epi32(levels[0], levels[1]),
                  second = _mm512_packs_epi32(levels[2], levels[3]);
    const __m512i bytes =
        std::is_signed_v<Q>
            ? _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(first, second), least_), most_)
            : _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(first, second), least_), most_);
    _mm512_storeu_si512(q + i, bytes);
    if (HWY_LIKELY(_mm512_cmplt_epu32_mask(nearest, doubtful_) == 0)) return true;
    // A level that is as low as bounds allow would be so on the other side, too.
    const uint64_t doubtful =
        bytes_below(fractions, doubtful_) & static_cast<uint64_t>(_mm512_cmpneq_epi8_mask(bytes, least_));
    return decide(a, other, i, doubtful, q);
  }

 private:
  static constexpr int kParts = 4;

  /// Of each byte that comes from four such vectors, whether its number is below a limit.
  static HWY_INLINE uint64_t bytes_below(const __m512i (&numbers)[kParts], __m512i limit) {
    const auto lanes = [&](int part) HWY_ATTR {
      return _mm512_movm_epi32(_mm512_cmplt_epu32_mask(numbers[part], limit));
    };
    return _mm512_movepi8_mask(
        _mm512_packs_epi16(_mm512_packs_epi32(lanes(0), lanes(1)), _mm512_packs_epi32(lanes(2), lanes(3))));
  }

  /// What sums that are near a tie become, unless they are many.
  template <typename A, typename Other>
  HWY_INLINE bool decide(const A* a, const Other& other, int64_t i, uint64_t doubtful, uint8_t* q) const {
    constexpr int kFew = 10;
    if (std::popcount(doubtful) > kFew) return false;
    for (; doubtful != 0; doubtful &= doubtful - 1) {
      const int64_t at = i + std::countr_zero(doubtful);
      q[at] = static_cast<uint8_t>(exact_.one(a, other, at));
    }
    return true;
  }

  /// Factors are multiplied in two parts, each of at most 15 bits.
  static constexpr int kSplit = 12, kLowBits = (1 << kSplit) - 1;

  const QuantizedPair::WholeSums& whole() const { return exact_.form.whole; }
  static char bound_of(const ExactPair<Q>& exact, float number) {
    const float level = hn::GetLane(exact.quantized(hn::Set(QuantizedF(), number)));
    return static_cast<char>(static_cast<Q>(level));
  }
  static __m512i flip_of(const QuantizedPair::Operand& o) {
    return _mm512_set1_epi8(static_cast<char>(o.is_signed ? 0x80 : 0));
  }
  static __m512i pairs_of(int first, int second) { return _mm512_set1_epi32(second << 16 | first); }

  const ExactPair<Q>& exact_;
  __m512i least_, most_, flips_[2], high_, low_, start_, fraction_, doubtful_;
  __m128i bits_;
};

template <typename Q, typename B>
struct WholeSumsOf<Q, false, PairedValues<false, B>> {
  using type = WholeSums<Q>;
};
#endif

template <bool kIsProduct, typename A, typename Q, typename Other>
void pair_quantized(const QuantizedPair::Form& form, const A* a, const Other& other, int64_t count,
                    uint8_t* to) {
  constexpr int64_t kVectors = 4;
  const QuantizedF f;
  const ExactPair<Q> exact{form};
  const QuantizedV least = exact.quantized(hn::Set(f, -std::numeric_limits<float>::infinity())),
                   most = exact.quantized(hn::Set(f, std::numeric_limits<float>::infinity())),
                   centre = hn::Set(f, form.operands[0].zero_point);
  const QuantizedV rounder = hn::Set(f, kRounder), tie = hn::Set(f, form.distance);
  const typename WholeSumsOf<Q, kIsProduct, Other>::type whole(exact);
  const auto vectors = [&](int64_t i, auto number) HWY_ATTR {
    constexpr int64_t kNumber = decltype(number)::value;
    QuantizedV rounded[kNumber];
    auto apart = hn::Lt(hn::Zero(f), rounder);
    ASSAY_UNROLL
    for (int64_t v = 0; v < kNumber; ++v) {
      const int64_t at = i + v * kQuantizedLanes;
      const PairTerms terms = other.terms(at);
      QuantizedV x = load_quantized(a + at);
      if constexpr (kIsProduct) x = hn::Sub(x, centre);
      const QuantizedV level = hn::Min(hn::Max(hn::MulAdd(x, terms.factor, terms.start), least), most);
      rounded[v] = hn::Add(level, rounder);
      apart = hn::And(apart, hn::Lt(hn::Abs(hn::Sub(level, hn::Sub(rounded[v], rounder))), tie));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(f, apart))) {
      for (int64_t v = 0; v < kNumber; ++v)
        rounded[v] = hn::Add(exact.of(a, other, i + v * kQuantizedLanes), rounder);
    }
    ASSAY_UNROLL
    for (int64_t v = 0; v < kNumber; ++v) store_quantized(rounded[v], to + i + v * kQuantizedLanes);
  };
  int64_t i = 0;
  for (; i + kVectors * kQuantizedLanes <= count; i += kVectors * kQuantizedLanes)
    if (!whole.are_there() || !whole.store(a, other, i, to))
      vectors(i, std::integral_constant<int64_t, kVectors>());
  for (; i + kQuantizedLanes <= count; i += kQuantizedLanes) vectors(i, std::integral_constant<int64_t, 1>());
  for (; i < count; ++i) to[i] = static_cast<uint8_t>(exact.one(a, other, i));
}

/// Calls body(is product, type of a, type of q).
template <typename Body>
void with_types_of(const QuantizedPair::Form& form, Body body) {
  const auto with_result = [&](auto is_product, auto a) {
    form.is_signed ? body(is_product, a, int8_t()) : body(is_product, a, uint8_t());
  };
  const auto with_first = [&](auto is_product) {
    form.operands[0].is_signed ? with_result(is_product, int8_t()) : with_result(is_product, uint8_t());
  };
  form.is_product ? with_first(std::true_type()) : with_first(std::false_type());
}

void pair_all_quantized(const QuantizedPair::Form& form, const void* a, const void* b, int64_t count,
                        void* q) {
  with_types_of(form, [&](auto is_product, auto first, auto result) {
    constexpr bool kIsProduct = decltype(is_product)::value;
    using A = decltype(first);
    const auto run = [&](const auto& other) {
      pair_quantized<kIsProduct, A, decltype(result)>(form, static_cast<const A*>(a), other, count,
                                                      static_cast<uint8_t*>(q));
    };
    if (form.operands[1].is_signed)
      run(PairedValues<kIsProduct, int8_t>(form, b));
    else
      run(PairedValues<kIsProduct, uint8_t>(form, b));
  });
}

/// Numbers that rows of a meet, on the stack.
inline constexpr int64_t kMaxNumbers = 4096;

/// How many whole rows of `columns` numbers fill vectors, four at a time; 1 where those are too many.
inline int64_t rows_together(int64_t columns) {
  const int64_t some = 4 * kQuantizedLanes, rows = some / std::gcd(columns, some);
  return rows * columns <= kMaxNumbers ? rows : 1;
}

void pair_rows_quantized(const QuantizedPair::Form& form, const void* a, const void* b, int64_t rows,
                         int64_t columns, void* q) {
  alignas(64) float numbers[kMaxNumbers];
  const auto* const values = static_cast<const uint8_t*>(b);
  const int64_t together = rows_together(columns), width = std::min(columns, kMaxNumbers);
  with_types_of(form, [&](auto is_product, auto first, auto result) {
    constexpr bool kIsProduct = decltype(is_product)::value;
    using A = decltype(first);
    const auto run = [&](int64_t at, int64_t count) {
      pair_quantized<kIsProduct, A, decltype(result)>(form, static_cast<const A*>(a) + at,
                                                      PairedNumbers<kIsProduct>(form, numbers), count,
                                                      static_cast<uint8_t*>(q) + at);
    };
    for (int64_t c = 0; c < columns; c += width) {
      const int64_t count = std::min(width, columns - c);
      for (int64_t i = 0; i < together * count; ++i)
        numbers[i] = form.operands[1].reals[values[c + i % count]];
      for (int64_t r = 0; r < rows; r += together) run(r * columns + c, std::min(together, rows - r) * count);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(pair_all_quantized);
HWY_EXPORT(pair_rows_quantized);

namespace {

/// What a register holds while a program is read.
struct QuantizedRegister {
  enum Kind : uint8_t { kOther, kReal, kPair, kQuantized } kind = kOther;
  QuantizedPair::Operand real{};
};

bool is_byte_type(DType type) { return type == DType::kUInt8 || type == DType::kInt8; }

QuantizedPair::Operand dequantized_operand(int position, DType type, float scale, float zero_point) {
  QuantizedPair::Operand o{position, type == DType::kInt8, scale, zero_point, {}};
  for (int i = 0; i < 256; ++i)
    o.reals[static_cast<size_t>(i)] =
        (static_cast<float>(o.is_signed ? static_cast<int8_t>(i) : i) - zero_point) * scale;
  return o;
}

/// Sets how far from a whole number one product and sum in levels decides, which is off by less than what is
/// left to a half; false where the numbers are too large for that, or no real ones.
bool find_distance(QuantizedPair::Form& f) {
  constexpr double kMaxQuantized = 8192;
  constexpr float kValues = 255;
  double sum = 0, product = 1 / double{f.scale};
  for (const QuantizedPair::Operand& o : f.operands) {
    const bool is_usual = std::isnormal(o.scale) && o.scale > 0 && std::isfinite(2 * kValues * o.scale);
    if (!is_usual || std::abs(o.zero_point) > kValues) return false;
    sum += double{o.scale} / f.scale * kValues;
    product *= double{o.scale} * kValues;
  }
  // What the numbers are multiplied by has to have the precision of other numbers.
  const auto is_precise = [](double factor) { return std::isnormal(static_cast<float>(factor)); };
  if (!is_precise(1 / double{f.scale}) || !is_precise(double{f.operands[0].scale} / f.scale) ||
      (f.is_product && !is_precise(product)))
    return false;
  // Some ten roundings of numbers of up to so many levels, on both ways together. Products of more than 512
  // saturate on either, while terms of a sum may cancel.
  const double levels = f.is_product ? std::min(product, 512.0) : sum;
  f.distance = static_cast<float>(0.5 - std::ldexp(10 * levels + 2000, -24));
  return f.low <= f.high && std::abs(f.zero_point) <= kValues && levels <= kMaxQuantized;
}

/// Sets how a sum is computed in whole numbers, where few sums are near a tie then.
void find_whole_sums(QuantizedPair::Form& f) {
  constexpr double kValues = 255;
  double start = f.zero_point, most = 0, numbers = 0;
  std::array<double, 2> levels{};  // in a step of each operand
  for (size_t i = 0; i < 2; ++i) {
    const QuantizedPair::Operand& o = f.operands[i];
    const double zero_point = o.zero_point + (o.is_signed ? 128.0 : 0.0);
    levels[i] = double{o.scale} / f.scale;
    start -= zero_point * levels[i];
    most += kValues * levels[i];
    numbers += (kValues + std::abs(double{o.zero_point})) * levels[i];
  }
  // The sum with its half and its slack has to stay within int32.
  const int bits = 30 - std::ilogb(most + std::abs(start) + 2);
  const double unit = std::ldexp(1.0, bits);
  // Off by at most half a unit for each step of both and once more, and by the roundings of the operators
  // one by one: those of both numbers, their sum and the quotient, each 2^-24 of less than all together.
  const double slack = std::ceil(kValues + 1 + 4 * numbers * std::ldexp(unit, -24));
  if (1000 * slack > unit) return;
  for (size_t i = 0; i < 2; ++i) f.whole.factors[i] = static_cast<int32_t>(std::llround(levels[i] * unit));
  f.whole.start = static_cast<int32_t>(std::llround(start * unit + unit / 2 + slack));
  f.whole.doubtful = static_cast<int32_t>(2 * slack);
  f.whole.bits = bits;
}

/// Reads a program, instruction by instruction, as far as it is such a pair.
class QuantizedPairReader {
 public:
  QuantizedPairReader(const PointwiseProgram& program, std::span<const PointwiseOperand> operands,
                      DType result, int first)
      : operands_(operands),
        result_(result),
        first_(first),
        registers_(static_cast<size_t>(program.registers())),
        inputs_(program.operands()) {}

  /// False where the instruction makes something else of the program.
  bool take(const PointwiseInstruction& in) {
    switch (in.op) {
      case PointwiseOp::kDequantize:
        return take_dequantize(in);
      case PointwiseOp::kAdd:
      case PointwiseOp::kMul:
        return take_pair(in);
      case PointwiseOp::kRelu:
        return take_bounds(in, 0, kInfinity);
      case PointwiseOp::kClip:
        return take_bounds(in, in.a, in.b);
      case PointwiseOp::kQuantizeUint8:
      case PointwiseOp::kQuantizeInt8:
        return take_quantize(in);
      default:
        return false;
    }
  }

  bool is_quantized(int reg) const { return at(reg).kind == QuantizedRegister::kQuantized; }
  const QuantizedPair::Form& form() const { return form_; }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  QuantizedRegister& at(int reg) { return registers_[static_cast<size_t>(reg)]; }
  const QuantizedRegister& at(int reg) const { return registers_[static_cast<size_t>(reg)]; }

  bool take_dequantize(const PointwiseInstruction& in) {
    const int x = in.args[0];
    if (x >= inputs_) return false;
    const DType type = operands_[static_cast<size_t>(x)].type;
    if (!is_byte_type(type)) return false;
    at(in.result) = {QuantizedRegister::kReal, dequantized_operand(x, type, in.a, in.b)};
    return true;
  }

  bool take_pair(const PointwiseInstruction& in) {
    const QuantizedRegister &x = at(in.args[0]), &y = at(in.args[1]);
    if (x.kind != QuantizedRegister::kReal || y.kind != QuantizedRegister::kReal) return false;
    form_.is_product = in.op == PointwiseOp::kMul;
    form_.operands = {x.real, y.real};
    if (x.real.position != first_) std::swap(form_.operands[0], form_.operands[1]);
    at(in.result) = {.kind = QuantizedRegister::kPair, .real = {}};
    return true;
  }

  /// Bounds once at most.
  bool take_bounds(const PointwiseInstruction& in, float low, float high) {
    const bool is_bounded = form_.low != -kInfinity || form_.high != kInfinity;
    if (at(in.args[0]).kind != QuantizedRegister::kPair || is_bounded) return false;
    form_.low = low, form_.high = high;
    at(in.result) = {.kind = QuantizedRegister::kPair, .real = {}};
    return true;
  }

  bool take_quantize(const PointwiseInstruction& in) {
    form_.is_signed = in.op == PointwiseOp::kQuantizeInt8;
    if (at(in.args[0]).kind != QuantizedRegister::kPair || form_.is_signed != (result_ == DType::kInt8))
      return false;
    form_.scale = in.a, form_.zero_point = in.b;
    at(in.result) = {.kind = QuantizedRegister::kQuantized, .real = {}};
    return true;
  }

  std::span<const PointwiseOperand> operands_;
  DType result_;
  int first_;  // the operand that comes first
  std::vector<QuantizedRegister> registers_;
  int inputs_;  // registers that hold operands
  QuantizedPair::Form form_{.is_product = false,
                            .operands = {},
                            .low = -kInfinity,
                            .high = kInfinity,
                            .scale = 0,
                            .zero_point = 0,
                            .is_signed = false};
};

}  // namespace

std::optional<QuantizedPair> QuantizedPair::of(const PointwiseProgram& program,
                                               std::span<const PointwiseOperand> operands, DType result,
                                               int first) {
  if (!is_byte_type(result) || operands.empty() || operands.size() > 2) return std::nullopt;
  QuantizedPairReader reader(program, operands, result, first);
  for (const PointwiseInstruction& in : program.code())
    if (!reader.take(in)) return std::nullopt;
  if (program.results().size() != 1 || !reader.is_quantized(program.results()[0])) return std::nullopt;
  Form form = reader.form();
  if (!std::isnormal(form.scale) || form.scale <= 0 || !find_distance(form)) return std::nullopt;
  if (!form.is_product) find_whole_sums(form);
  return QuantizedPair(form);
}

void QuantizedPair::run(const void* a, const void* b, int64_t count, void* q) const noexcept {
  HWY_DYNAMIC_DISPATCH(pair_all_quantized)(form_, a, b, count, q);
}

void QuantizedPair::run_rows(const void* a, const void* b, int64_t rows, int64_t columns,
                             void* q) const noexcept {
  HWY_DYNAMIC_DISPATCH(pair_rows_quantized)(form_, a, b, rows, columns, q);
}

}  // namespace assay::kernels
#endif
