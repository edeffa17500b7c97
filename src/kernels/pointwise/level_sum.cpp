#include "kernels/pointwise/level_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/level_sum.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/int8/quotient-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LevelF = hn::ScalableTag<float>;
using LevelV = hn::Vec<LevelF>;
inline constexpr int64_t kLevelLanes = static_cast<int64_t>(hn::MaxLanes(LevelF()));

template <typename A>
HWY_INLINE LevelV load_levels(const A* p) {
  const LevelF f;
  const hn::Rebind<A, LevelF> narrow;
  const hn::RebindToSigned<LevelF> i32;
  return hn::ConvertTo(f, hn::PromoteTo(i32, hn::LoadU(narrow, p)));
}

/// The instructions one by one.
template <typename Q>
struct ExactSum {
  const LevelSum::Form& form;

  HWY_INLINE LevelV quantized(LevelV sum) const {
    const LevelF f;
    const LevelV v = hn::Min(hn::Max(sum, hn::Set(f, form.low)), hn::Set(f, form.high));
    const LevelV steps = rounded_quotient(f, v, hn::Set(f, form.scale), hn::Set(f, inverse_of(form.scale)));
    return hn::Min(
        hn::Max(hn::Add(steps, hn::Set(f, form.zero_point)), hn::Set(f, float{hwy::LimitsMin<Q>()})),
        hn::Set(f, float{hwy::LimitsMax<Q>()}));
  }
  HWY_INLINE LevelV of(const void* a, const void* b, int64_t i) const {
    alignas(64) float sums[kLevelLanes];
    for (int64_t j = 0; j < kLevelLanes; ++j)
      sums[j] = form.operands[0].reals[static_cast<const uint8_t*>(a)[i + j]] +
                form.operands[1].reals[static_cast<const uint8_t*>(b)[i + j]];
    return quantized(hn::Load(LevelF(), sums));
  }
};

template <typename A, typename B, typename Q>
void sum_levels(const LevelSum::Form& form, const void* a, const void* b, int64_t count, void* q) {
  constexpr int64_t kVectors = 4;
  // 1.5 * 2^23: added to a number, it rounds that to a whole one, whose last byte is the last of the sum.
  constexpr float kRounder = 12582912;
  const LevelF f;
  const hn::RebindToUnsigned<LevelF> u32;
  const hn::Rebind<uint8_t, LevelF> narrow;
  const ExactSum<Q> exact{form};
  const auto factor = [&](int o) { return double{form.operands[o].scale} / form.scale; };
  const LevelV first = hn::Set(f, static_cast<float>(factor(0))),
               second = hn::Set(f, static_cast<float>(factor(1))),
               start =
                   hn::Set(f, static_cast<float>(form.zero_point - form.operands[0].zero_point * factor(0) -
                                                 form.operands[1].zero_point * factor(1)));
  const LevelV least = exact.quantized(hn::Set(f, -std::numeric_limits<float>::infinity())),
               most = exact.quantized(hn::Set(f, std::numeric_limits<float>::infinity()));
  const LevelV rounder = hn::Set(f, kRounder), tie = hn::Set(f, form.distance);
  const auto* const left = static_cast<const A*>(a);
  const auto* const right = static_cast<const B*>(b);
  auto* const to = static_cast<uint8_t*>(q);
  const auto vectors = [&](int64_t i, auto number) HWY_ATTR {
    constexpr int64_t kNumber = decltype(number)::value;
    LevelV rounded[kNumber];
    auto apart = hn::Lt(hn::Zero(f), rounder);
    ASSAY_UNROLL
    for (int64_t v = 0; v < kNumber; ++v) {
      const int64_t at = i + v * kLevelLanes;
      const LevelV level = hn::Min(hn::Max(hn::MulAdd(load_levels(left + at), first,
                                                      hn::MulAdd(load_levels(right + at), second, start)),
                                           least),
                                   most);
      rounded[v] = hn::Add(level, rounder);
      apart = hn::And(apart, hn::Lt(hn::Abs(hn::Sub(level, hn::Sub(rounded[v], rounder))), tie));
    }
    if (HWY_UNLIKELY(!hn::AllTrue(f, apart))) {
      for (int64_t v = 0; v < kNumber; ++v)
        rounded[v] = hn::Add(exact.of(a, b, i + v * kLevelLanes), rounder);
    }
    ASSAY_UNROLL
    for (int64_t v = 0; v < kNumber; ++v)
      hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(u32, rounded[v])), narrow, to + i + v * kLevelLanes);
  };
  int64_t i = 0;
  for (; i + kVectors * kLevelLanes <= count; i += kVectors * kLevelLanes)
    vectors(i, std::integral_constant<int64_t, kVectors>());
  for (; i + kLevelLanes <= count; i += kLevelLanes) vectors(i, std::integral_constant<int64_t, 1>());
  if (i == count) return;
  const int64_t rest = count - i;
  A last_left[kLevelLanes] = {};
  B last_right[kLevelLanes] = {};
  uint8_t last[kLevelLanes];
  std::copy_n(left + i, rest, last_left);
  std::copy_n(right + i, rest, last_right);
  const LevelV levels = hn::Add(exact.of(last_left, last_right, 0), rounder);
  hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(u32, levels)), narrow, last);
  std::copy_n(last, rest, to + i);
}

template <typename A, typename B>
void sum_levels_to(const LevelSum::Form& form, const void* a, const void* b, int64_t count, void* q) {
  form.is_signed ? sum_levels<A, B, int8_t>(form, a, b, count, q)
                 : sum_levels<A, B, uint8_t>(form, a, b, count, q);
}

void sum_all_levels(const LevelSum::Form& form, const void* a, const void* b, int64_t count, void* q) {
  const bool left = form.operands[0].is_signed, right = form.operands[1].is_signed;
  if (left)
    right ? sum_levels_to<int8_t, int8_t>(form, a, b, count, q)
          : sum_levels_to<int8_t, uint8_t>(form, a, b, count, q);
  else
    right ? sum_levels_to<uint8_t, int8_t>(form, a, b, count, q)
          : sum_levels_to<uint8_t, uint8_t>(form, a, b, count, q);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(sum_all_levels);

namespace {

/// What a register holds while a program is read.
struct LevelRegister {
  enum Kind : uint8_t { kOther, kReal, kSum, kQuantized } kind = kOther;
  LevelSum::Operand real{};
};

bool is_byte_type(PointwiseType type) {
  return type == PointwiseType::kUint8 || type == PointwiseType::kInt8;
}

LevelSum::Operand dequantized_operand(int position, PointwiseType type, float scale, float zero_point) {
  LevelSum::Operand o{position, type == PointwiseType::kInt8, scale, zero_point, {}};
  for (int i = 0; i < 256; ++i)
    o.reals[static_cast<size_t>(i)] =
        (static_cast<float>(o.is_signed ? static_cast<int8_t>(i) : i) - zero_point) * scale;
  return o;
}

/// Sets how far from a whole number one product and sum in levels decides, which is off by less than what is
/// left to a half; false where the numbers are too large for that, or no real ones.
bool find_distance(LevelSum::Form& f) {
  constexpr double kMostLevels = 8192;
  double levels = 0;
  for (const LevelSum::Operand& o : f.operands) {
    if (!std::isnormal(o.scale) || o.scale <= 0 || std::abs(o.zero_point) > 255) return false;
    levels += double{o.scale} / f.scale * 255;
  }
  // Some ten roundings of numbers of up to so many levels, on both ways together.
  f.distance = static_cast<float>(0.5 - std::ldexp(10 * levels + 2000, -24));
  return f.low <= f.high && std::abs(f.zero_point) <= 255 && levels <= kMostLevels;
}

}  // namespace

std::optional<LevelSum> LevelSum::of(const PointwiseProgram& program,
                                     std::span<const PointwiseOperand> operands, PointwiseType result) {
  if (!is_byte_type(result) || operands.empty() || operands.size() > 2) return std::nullopt;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Form form{
      .operands = {}, .low = -kInfinity, .high = kInfinity, .scale = 0, .zero_point = 0, .is_signed = false};
  std::vector<LevelRegister> registers(static_cast<size_t>(program.registers()));
  const auto kind = [&](int reg) { return registers[static_cast<size_t>(reg)].kind; };
  for (const PointwiseInstruction& in : program.code()) {
    LevelRegister& to = registers[static_cast<size_t>(in.result)];
    const int x = in.args[0], y = in.args[1];
    switch (in.op) {
      case PointwiseOp::kDequantize:
        if (x >= program.operands() || !is_byte_type(operands[static_cast<size_t>(x)].type))
          return std::nullopt;
        to = {LevelRegister::kReal,
              dequantized_operand(x, operands[static_cast<size_t>(x)].type, in.a, in.b)};
        break;
      case PointwiseOp::kAdd:
        if (kind(x) != LevelRegister::kReal || kind(y) != LevelRegister::kReal) return std::nullopt;
        form.operands = {registers[static_cast<size_t>(x)].real, registers[static_cast<size_t>(y)].real};
        to = {.kind = LevelRegister::kSum, .real = {}};
        break;
      case PointwiseOp::kRelu:
      case PointwiseOp::kClip:
        if (kind(x) != LevelRegister::kSum || form.low != -kInfinity || form.high != kInfinity)
          return std::nullopt;
        form.low = in.op == PointwiseOp::kRelu ? 0 : in.a;
        if (in.op == PointwiseOp::kClip) form.high = in.b;
        to = {.kind = LevelRegister::kSum, .real = {}};
        break;
      case PointwiseOp::kQuantizeUint8:
      case PointwiseOp::kQuantizeInt8:
        form.is_signed = in.op == PointwiseOp::kQuantizeInt8;
        if (kind(x) != LevelRegister::kSum || form.is_signed != (result == PointwiseType::kInt8))
          return std::nullopt;
        form.scale = in.a, form.zero_point = in.b;
        to = {.kind = LevelRegister::kQuantized, .real = {}};
        break;
      default:
        return std::nullopt;
    }
  }
  if (program.results().size() != 1 || kind(program.results()[0]) != LevelRegister::kQuantized ||
      !std::isnormal(form.scale) || form.scale <= 0 || !find_distance(form))
    return std::nullopt;
  return LevelSum(form);
}

void LevelSum::run(std::span<const void* const> operands, int64_t count, void* q) const noexcept {
  const auto at = [&](int o) { return operands[static_cast<size_t>(form_.operands[o].position)]; };
  HWY_DYNAMIC_DISPATCH(sum_all_levels)(form_, at(0), at(1), count, q);
}

}  // namespace assay::kernels
#endif
