// The instructions of the pointwise kernel on registers that are not float32, as loops that the compiler
// vectorizes.
#if defined(ASSAY_KERNELS_TYPED_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_TYPED_LOOPS_INL_H_
#undef ASSAY_KERNELS_TYPED_LOOPS_INL_H_
#else
#define ASSAY_KERNELS_TYPED_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <type_traits>

#include "kernels/pointwise/program.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

template <typename T, typename R, typename Fn>
HWY_INLINE void loop1(const void* x, void* out, size_t count, Fn fn) {
  const T* from = static_cast<const T*>(x);
  R* to = static_cast<R*>(out);
#pragma omp simd
  for (size_t i = 0; i < count; ++i) to[i] = fn(from[i]);
}

template <typename T, typename R, typename Fn>
HWY_INLINE void loop2(const void* x, const void* y, void* out, size_t count, Fn fn) {
  const T *left = static_cast<const T*>(x), *right = static_cast<const T*>(y);
  R* to = static_cast<R*>(out);
#pragma omp simd
  for (size_t i = 0; i < count; ++i) to[i] = fn(left[i], right[i]);
}

/// Arithmetic of a type without signed overflow: integers wrap. Narrow ones would be promoted to int.
template <typename T>
using Wrapping = typename std::conditional_t<
    !std::is_integral_v<T>, std::type_identity<T>,
    std::conditional_t<sizeof(T) < 4, std::type_identity<uint32_t>, std::make_unsigned<T>>>::type;

template <typename T>
HWY_INLINE T magnitude(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::abs(x);
  else
    return x < 0 ? static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x)) : x;
}
template <typename T>
HWY_INLINE T larger(T x, T y) {
  return x > y || x != x ? x : y;
}
template <typename T>
HWY_INLINE T smaller(T x, T y) {
  return x < y || x != x ? x : y;
}

/// Towards zero; 0 where y is 0.
template <typename T>
HWY_INLINE T quotient(T x, T y) {
  using U = Wrapping<T>;
  if (y == 0) return 0;
  return y == static_cast<T>(-1) && std::is_signed_v<T> ? static_cast<T>(U(0) - static_cast<U>(x))
                                                        : static_cast<T>(x / y);
}
template <typename T>
HWY_INLINE T remainder(T x, T y) {
  return y == 0 || (std::is_signed_v<T> && y == static_cast<T>(-1)) ? T(0) : static_cast<T>(x % y);
}
template <typename T>
HWY_INLINE T floor_remainder(T x, T y) {
  const T r = remainder(x, y);
  return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
}

template <typename T>
HWY_INLINE T shifted_left(T x, T y) {
  constexpr T kBits = sizeof(T) * 8;
  const bool within = y >= 0 && y < kBits;
  return within ? static_cast<T>(static_cast<Wrapping<T>>(x) << (within ? y : 0)) : T(0);
}
template <typename T>
HWY_INLINE T shifted_right(T x, T y) {
  constexpr T kBits = sizeof(T) * 8;
  const T by = y >= 0 && y < kBits ? y : static_cast<T>(kBits - 1);
  const T out = static_cast<T>(x >> by);
  return std::is_signed_v<T> || by == y ? out : T(0);
}

/// Numbers out of range, which ONNX leaves undefined, become what the processor's conversion to the narrowest
/// signed type of 32 bits or more that holds the type gives.
template <typename R, typename T>
HWY_INLINE R converted(T x) {
  if constexpr (std::is_same_v<R, int32_t> && std::is_floating_point_v<T>) {
    const T limit = static_cast<T>(2147483648.0);
    return x >= -limit && x < limit ? static_cast<int32_t>(x) : INT32_MIN;
  } else if constexpr (std::is_same_v<R, int64_t> && std::is_floating_point_v<T>) {
    const T limit = static_cast<T>(9223372036854775808.0);
    return x >= -limit && x < limit ? static_cast<int64_t>(x) : INT64_MIN;
  } else if constexpr (std::is_same_v<R, uint64_t> && std::is_floating_point_v<T>) {
    const T half = static_cast<T>(9223372036854775808.0);
    return x >= half ? static_cast<uint64_t>(converted<int64_t>(x - half)) ^ (uint64_t{1} << 63)
                     : static_cast<uint64_t>(converted<int64_t>(x));
  } else if constexpr (std::is_integral_v<R> && std::is_floating_point_v<T>) {
    return static_cast<R>(converted<std::conditional_t<sizeof(R) < 4, int32_t, int64_t>>(x));
  } else {
    return static_cast<R>(x);
  }
}

/// int32 by float64, whose quotients are exact after truncation.
HWY_INLINE int32_t vector_quotient(int32_t x, int32_t y) {
  // The lowest value divided by -1 does not fit: its negation wraps to itself, which the conversion gives,
  // too.
  const auto q = converted<int32_t>(static_cast<double>(x) / static_cast<double>(y == 0 ? 1 : y));
  return y == 0 ? 0 : q;
}

template <typename T>
void convert_register(PointwiseOp op, const void* x, void* out, size_t count) {
  switch (op) {
    case PointwiseOp::kToFloat32:
      return loop1<T, float>(x, out, count, [](T v) { return converted<float>(v); });
    case PointwiseOp::kToFloat64:
      return loop1<T, double>(x, out, count, [](T v) { return converted<double>(v); });
    case PointwiseOp::kToInt32:
      return loop1<T, int32_t>(x, out, count, [](T v) { return converted<int32_t>(v); });
    case PointwiseOp::kToInt64:
      return loop1<T, int64_t>(x, out, count, [](T v) { return converted<int64_t>(v); });
    case PointwiseOp::kToInt8:
    case PointwiseOp::kToUint8:
      return loop1<T, uint8_t>(x, out, count, [](T v) { return converted<uint8_t>(v); });
    case PointwiseOp::kToInt16:
    case PointwiseOp::kToUint16:
      return loop1<T, uint16_t>(x, out, count, [](T v) { return converted<uint16_t>(v); });
    case PointwiseOp::kToUint32:
      return loop1<T, uint32_t>(x, out, count, [](T v) { return converted<uint32_t>(v); });
    case PointwiseOp::kToUint64:
      return loop1<T, uint64_t>(x, out, count, [](T v) { return converted<uint64_t>(v); });
    default:
      return loop1<T, uint8_t>(x, out, count, [](T v) { return static_cast<uint8_t>(v != 0); });
  }
}

#define ASSAY_LOOP1(name, expression) \
  case PointwiseOp::k##name:          \
    return loop1<T, T>(x, out, count, [=](T v) { return static_cast<T>(expression); })
#define ASSAY_LOOP2(name, expression) \
  case PointwiseOp::k##name:          \
    return loop2<T, T>(x, y, out, count, [=](T v, T w) { return static_cast<T>(expression); })
#define ASSAY_COMPARE(name, expression) \
  case PointwiseOp::k##name:            \
    return loop2<T, uint8_t>(x, y, out, count, [=](T v, T w) { return static_cast<uint8_t>(expression); })

template <typename T>
void integer_or_float(const PointwiseInstruction& in, const void* x, const void* y, void* out, size_t count) {
  if constexpr (std::is_integral_v<T>) {
    switch (in.op) {
      ASSAY_LOOP1(BitNot, ~v);
      ASSAY_LOOP2(BitAnd, v & w);
      ASSAY_LOOP2(BitOr, v | w);
      ASSAY_LOOP2(BitXor, v ^ w);
      ASSAY_LOOP2(FloorMod, floor_remainder(v, w));
      ASSAY_LOOP2(TruncMod, remainder(v, w));
      ASSAY_LOOP2(ShiftLeft, shifted_left(v, w));
      ASSAY_LOOP2(ShiftRight, shifted_right(v, w));
      case PointwiseOp::kDiv:
        if constexpr (std::is_same_v<T, int32_t>)
          return loop2<T, T>(x, y, out, count, [](T v, T w) { return vector_quotient(v, w); });
        else
          return loop2<T, T>(x, y, out, count, [](T v, T w) { return quotient(v, w); });
      default:
        HWY_ASSERT(false);
    }
  } else {
    const bool positive = in.a != 0, negative = in.b != 0;
    switch (in.op) {
      ASSAY_LOOP1(Ceil, std::ceil(v));
      ASSAY_LOOP1(Floor, std::floor(v));
      ASSAY_LOOP1(Reciprocal, T(1) / v);
      ASSAY_LOOP1(Round, std::nearbyint(v));
      ASSAY_LOOP1(Sqrt, std::sqrt(v));
      ASSAY_LOOP2(Div, v / w);
      ASSAY_LOOP2(TruncMod, std::fmod(v, w));
      case PointwiseOp::kIsNaN:
        return loop1<T, uint8_t>(x, out, count, [](T v) { return static_cast<uint8_t>(v != v); });
      case PointwiseOp::kIsInf:
        return loop1<T, uint8_t>(x, out, count, [=](T v) {
          constexpr T kInfinity = std::numeric_limits<T>::infinity();
          return static_cast<uint8_t>((positive & (v == kInfinity)) | (negative & (v == -kInfinity)));
        });
      default:
        HWY_ASSERT(false);
    }
  }
}

/// Unary and binary instructions on numbers other than float32.
template <typename T>
void numbers(const PointwiseInstruction& in, const void* x, const void* y, void* out, size_t count) {
  using W = Wrapping<T>;
  switch (in.op) {
    ASSAY_LOOP1(Abs, magnitude(v));
    ASSAY_LOOP1(Copy, v);
    ASSAY_LOOP1(Neg, std::is_floating_point_v<T> ? -static_cast<W>(v) : W(0) - static_cast<W>(v));
    ASSAY_LOOP1(Relu, v < 0 ? T(0) : v);
    ASSAY_LOOP1(Sign, v != v ? v : static_cast<T>((v > 0) - (v < 0)));
    ASSAY_LOOP1(Square, static_cast<W>(v) * static_cast<W>(v));
    ASSAY_LOOP2(Add, static_cast<W>(v) + static_cast<W>(w));
    ASSAY_LOOP2(Max, larger(v, w));
    ASSAY_LOOP2(Min, smaller(v, w));
    ASSAY_LOOP2(Mul, static_cast<W>(v) * static_cast<W>(w));
    ASSAY_LOOP2(Sub, static_cast<W>(v) - static_cast<W>(w));
    ASSAY_COMPARE(Equal, v == w);
    ASSAY_COMPARE(Greater, v > w);
    ASSAY_COMPARE(GreaterOrEqual, v >= w);
    ASSAY_COMPARE(Less, v < w);
    ASSAY_COMPARE(LessOrEqual, v <= w);
    case PointwiseOp::kToBool:
    case PointwiseOp::kToFloat32:
    case PointwiseOp::kToFloat64:
    case PointwiseOp::kToInt32:
    case PointwiseOp::kToInt64:
    case PointwiseOp::kToInt8:
    case PointwiseOp::kToUint8:
    case PointwiseOp::kToInt16:
    case PointwiseOp::kToUint16:
    case PointwiseOp::kToUint32:
    case PointwiseOp::kToUint64:
      return convert_register<T>(in.op, x, out, count);
    default:
      return integer_or_float<T>(in, x, y, out, count);
  }
}

void logic(PointwiseOp op, const void* x, const void* y, void* out, size_t count) {
  using T = uint8_t;
  switch (op) {
    ASSAY_LOOP1(Copy, v);
    ASSAY_LOOP1(Not, v == 0);
    ASSAY_LOOP2(And, (v != 0) & (w != 0));
    ASSAY_LOOP2(Equal, (v != 0) == (w != 0));
    ASSAY_LOOP2(Or, (v != 0) | (w != 0));
    ASSAY_LOOP2(Xor, (v != 0) != (w != 0));
    case PointwiseOp::kToFloat32:
      return loop1<T, float>(x, out, count, [](T v) { return v != 0 ? 1.0F : 0.0F; });
    case PointwiseOp::kToFloat64:
      return loop1<T, double>(x, out, count, [](T v) { return v != 0 ? 1.0 : 0.0; });
    case PointwiseOp::kToInt32:
      return loop1<T, int32_t>(x, out, count, [](T v) { return static_cast<int32_t>(v != 0); });
    case PointwiseOp::kToInt64:
      return loop1<T, int64_t>(x, out, count, [](T v) { return static_cast<int64_t>(v != 0); });
    case PointwiseOp::kToBool:
    case PointwiseOp::kToInt8:
    case PointwiseOp::kToUint8:
      return loop1<T, T>(x, out, count, [](T v) { return static_cast<T>(v != 0); });
    case PointwiseOp::kToInt16:
    case PointwiseOp::kToUint16:
      return loop1<T, uint16_t>(x, out, count, [](T v) { return static_cast<uint16_t>(v != 0); });
    case PointwiseOp::kToUint32:
      return loop1<T, uint32_t>(x, out, count, [](T v) { return static_cast<uint32_t>(v != 0); });
    case PointwiseOp::kToUint64:
      return loop1<T, uint64_t>(x, out, count, [](T v) { return static_cast<uint64_t>(v != 0); });
    default:
      HWY_ASSERT(false);
  }
}

#undef ASSAY_LOOP1
#undef ASSAY_LOOP2
#undef ASSAY_COMPARE

/// Of elements that are only moved: by their bits.
template <typename T>
void select(const void* x, const void* y, const void* z, void* out, size_t count) {
  const auto* choice = static_cast<const uint8_t*>(x);
  const T *left = static_cast<const T*>(y), *right = static_cast<const T*>(z);
  T* to = static_cast<T*>(out);
#pragma omp simd
  for (size_t i = 0; i < count; ++i) to[i] = choice[i] != 0 ? left[i] : right[i];
}

template <typename T>
void clamp(const void* x, const void* low, const void* high, void* out, size_t count) {
  const T *from = static_cast<const T*>(x), *lows = static_cast<const T*>(low),
          *highs = static_cast<const T*>(high);
  T* to = static_cast<T*>(out);
#pragma omp simd
  for (size_t i = 0; i < count; ++i) to[i] = smaller(larger(from[i], lows[i]), highs[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif
