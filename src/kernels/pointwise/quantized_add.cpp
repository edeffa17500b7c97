#include "kernels/pointwise/quantized_add.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/quantized_add.cpp"
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

/// The instructions one by one.
template <typename Q>
struct ExactSum {
  const QuantizedAdd::Form& form;

  HWY_INLINE QuantizedV quantized(QuantizedV sum) const {
    const QuantizedF f;
    const QuantizedV v = hn::Min(hn::Max(sum, hn::Set(f, form.low)), hn::Set(f, form.high));
    const QuantizedV steps =
        rounded_quotient(f, v, hn::Set(f, form.scale), hn::Set(f, inverse_of(form.scale)));
    return hn::Min(
        hn::Max(hn::Add(steps, hn::Set(f, form.zero_point)), hn::Set(f, float{hwy::LimitsMin<Q>()})),
        hn::Set(f, float{hwy::LimitsMax<Q>()}));
  }
  HWY_INLINE QuantizedV of(const void* a, const void* b, int64_t i) const {
    alignas(64) float sums[kQuantizedLanes];
    for (int64_t j = 0; j < kQuantizedLanes; ++j)
      sums[j] = form.operands[0].reals[static_cast<const uint8_t*>(a)[i + j]] +
                form.operands[1].reals[static_cast<const uint8_t*>(b)[i + j]];
    return quantized(hn::Load(QuantizedF(), sums));
  }
};

template <typename A, typename B, typename Q>
void sum_quantized(const QuantizedAdd::Form& form, const void* a, const void* b, int64_t count, void* q) {
  constexpr int64_t kVectors = 4;
  // 1.5 * 2^23: added to a number, it rounds that to a whole one, whose last byte is the last of the sum.
  constexpr float kRounder = 12582912;
  const QuantizedF f;
  const hn::RebindToUnsigned<QuantizedF> u32;
  const hn::Rebind<uint8_t, QuantizedF> narrow;
  const ExactSum<Q> exact{form};
  const auto factor = [&](int o) { return double{form.operands[o].scale} / form.scale; };
  const QuantizedV first = hn::Set(f, static_cast<float>(factor(0))),
                   second = hn::Set(f, static_cast<float>(factor(1))),
                   start = hn::Set(
                       f, static_cast<float>(form.zero_point - form.operands[0].zero_point * factor(0) -
                                             form.operands[1].zero_point * factor(1)));
  const QuantizedV least = exact.quantized(hn::Set(f, -std::numeric_limits<float>::infinity())),
                   most = exact.quantized(hn::Set(f, std::numeric_limits<float>::infinity()));
  const QuantizedV rounder = hn::Set(f, kRounder), tie = hn::Set(f, form.distance);
  const auto* const left = static_cast<const A*>(a);
  const auto* const right = static_cast<const B*>(b);
  auto* const to = static_cast<uint8_t*>(q);
  const auto vectors = [&](int64_t i, auto number) HWY_ATTR {
    constexpr int64_t kNumber = decltype(number)::value;
    QuantizedV rounded[kNumber];
    auto apart = hn::Lt(hn::Zero(f), rounder);
    ASSAY_UNROLL
    for (int64_t v = 0; v < kNumber; ++v) {
      const int64_t at = i + v * kQuantizedLanes;
      const QuantizedV level =
          hn::Min(hn::Max(hn::MulAdd(load_quantized(left + at), first,
                                     hn::MulAdd(load_quantized(right + at), second, start)),
                          least),
                  most);
      rounded[v] = hn::Add(level, rounder);
      apart = hn::And(apart, hn::Lt(hn::Abs(hn::Sub(level, hn::Sub(rounded[v], rounder))), tie));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(f, apart))) {
      for (int64_t v = 0; v < kNumber; ++v)
        rounded[v] = hn::Add(exact.of(a, b, i + v * kQuantizedLanes), rounder);
    }
    ASSAY_UNROLL
    for (int64_t v = 0; v < kNumber; ++v)
      hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(u32, rounded[v])), narrow, to + i + v * kQuantizedLanes);
  };
  int64_t i = 0;
  for (; i + kVectors * kQuantizedLanes <= count; i += kVectors * kQuantizedLanes)
    vectors(i, std::integral_constant<int64_t, kVectors>());
  for (; i + kQuantizedLanes <= count; i += kQuantizedLanes) vectors(i, std::integral_constant<int64_t, 1>());
  if (i == count) return;
  const int64_t rest = count - i;
  A last_left[kQuantizedLanes] = {};
  B last_right[kQuantizedLanes] = {};
  uint8_t last[kQuantizedLanes];
  std::copy_n(left + i, rest, last_left);
  std::copy_n(right + i, rest, last_right);
  const QuantizedV levels = hn::Add(exact.of(last_left, last_right, 0), rounder);
  hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(u32, levels)), narrow, last);
  std::copy_n(last, rest, to + i);
}

template <typename A, typename B>
void sum_quantized_to(const QuantizedAdd::Form& form, const void* a, const void* b, int64_t count, void* q) {
  form.is_signed ? sum_quantized<A, B, int8_t>(form, a, b, count, q)
                 : sum_quantized<A, B, uint8_t>(form, a, b, count, q);
}

void sum_all_quantized(const QuantizedAdd::Form& form, const void* a, const void* b, int64_t count, void* q) {
  const bool left = form.operands[0].is_signed, right = form.operands[1].is_signed;
  if (left)
    right ? sum_quantized_to<int8_t, int8_t>(form, a, b, count, q)
          : sum_quantized_to<int8_t, uint8_t>(form, a, b, count, q);
  else
    right ? sum_quantized_to<uint8_t, int8_t>(form, a, b, count, q)
          : sum_quantized_to<uint8_t, uint8_t>(form, a, b, count, q);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(sum_all_quantized);

namespace {

/// What a register holds while a program is read.
struct QuantizedRegister {
  enum Kind : uint8_t { kOther, kReal, kSum, kQuantized } kind = kOther;
  QuantizedAdd::Operand real{};
};

bool is_byte_type(DType type) { return type == DType::kUInt8 || type == DType::kInt8; }

QuantizedAdd::Operand dequantized_operand(int position, DType type, float scale, float zero_point) {
  QuantizedAdd::Operand o{position, type == DType::kInt8, scale, zero_point, {}};
  for (int i = 0; i < 256; ++i)
    o.reals[static_cast<size_t>(i)] =
        (static_cast<float>(o.is_signed ? static_cast<int8_t>(i) : i) - zero_point) * scale;
  return o;
}

/// Sets how far from a whole number one product and sum in levels decides, which is off by less than what is
/// left to a half; false where the numbers are too large for that, or no real ones.
bool find_distance(QuantizedAdd::Form& f) {
  constexpr double kMaxQuantized = 8192;
  double levels = 0;
  for (const QuantizedAdd::Operand& o : f.operands) {
    if (!std::isnormal(o.scale) || o.scale <= 0 || std::abs(o.zero_point) > 255) return false;
    levels += double{o.scale} / f.scale * 255;
  }
  // Some ten roundings of numbers of up to so many levels, on both ways together.
  f.distance = static_cast<float>(0.5 - std::ldexp(10 * levels + 2000, -24));
  return f.low <= f.high && std::abs(f.zero_point) <= 255 && levels <= kMaxQuantized;
}

/// Reads a program, instruction by instruction, as far as it is such a sum.
class QuantizedAddReader {
 public:
  QuantizedAddReader(const PointwiseProgram& program, std::span<const PointwiseOperand> operands,
                     DType result)
      : operands_(operands),
        result_(result),
        registers_(static_cast<size_t>(program.registers())),
        inputs_(program.operands()) {}

  /// False where the instruction makes something else of the program.
  bool take(const PointwiseInstruction& in) {
    switch (in.op) {
      case PointwiseOp::kDequantize:
        return take_dequantize(in);
      case PointwiseOp::kAdd:
        return take_add(in);
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
  const QuantizedAdd::Form& form() const { return form_; }

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

  bool take_add(const PointwiseInstruction& in) {
    const QuantizedRegister &x = at(in.args[0]), &y = at(in.args[1]);
    if (x.kind != QuantizedRegister::kReal || y.kind != QuantizedRegister::kReal) return false;
    form_.operands = {x.real, y.real};
    at(in.result) = {.kind = QuantizedRegister::kSum, .real = {}};
    return true;
  }

  /// Bounds once at most.
  bool take_bounds(const PointwiseInstruction& in, float low, float high) {
    const bool is_bounded = form_.low != -kInfinity || form_.high != kInfinity;
    if (at(in.args[0]).kind != QuantizedRegister::kSum || is_bounded) return false;
    form_.low = low, form_.high = high;
    at(in.result) = {.kind = QuantizedRegister::kSum, .real = {}};
    return true;
  }

  bool take_quantize(const PointwiseInstruction& in) {
    form_.is_signed = in.op == PointwiseOp::kQuantizeInt8;
    if (at(in.args[0]).kind != QuantizedRegister::kSum || form_.is_signed != (result_ == DType::kInt8))
      return false;
    form_.scale = in.a, form_.zero_point = in.b;
    at(in.result) = {.kind = QuantizedRegister::kQuantized, .real = {}};
    return true;
  }

  std::span<const PointwiseOperand> operands_;
  DType result_;
  std::vector<QuantizedRegister> registers_;
  int inputs_;  // registers that hold operands
  QuantizedAdd::Form form_{
      .operands = {}, .low = -kInfinity, .high = kInfinity, .scale = 0, .zero_point = 0, .is_signed = false};
};

}  // namespace

std::optional<QuantizedAdd> QuantizedAdd::of(const PointwiseProgram& program,
                                             std::span<const PointwiseOperand> operands, DType result) {
  if (!is_byte_type(result) || operands.empty() || operands.size() > 2) return std::nullopt;
  QuantizedAddReader reader(program, operands, result);
  for (const PointwiseInstruction& in : program.code())
    if (!reader.take(in)) return std::nullopt;
  if (program.results().size() != 1 || !reader.is_quantized(program.results()[0])) return std::nullopt;
  Form form = reader.form();
  if (!std::isnormal(form.scale) || form.scale <= 0 || !find_distance(form)) return std::nullopt;
  return QuantizedAdd(form);
}

void QuantizedAdd::run(std::span<const void* const> operands, int64_t count, void* q) const noexcept {
  const auto at = [&](int o) { return operands[static_cast<size_t>(form_.operands[o].position)]; };
  HWY_DYNAMIC_DISPATCH(sum_all_quantized)(form_, at(0), at(1), count, q);
}

}  // namespace assay::kernels
#endif
