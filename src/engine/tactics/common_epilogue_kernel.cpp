#include "engine/tactics/common_epilogue_kernel.h"

#include <limits>

namespace assay::engine {
namespace {

using kernels::EpilogueFunction;
using kernels::EpilogueParameters;
using kernels::PointwiseOp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::optional<EpilogueParameters> epilogue_function(PointwiseOp op, float a, float b) {
  switch (op) {
    case PointwiseOp::kRelu:
      return {{0, kInfinity}};
    case PointwiseOp::kClip:
      return {{a, b}};
    case PointwiseOp::kGelu:
      return {{0, 0, EpilogueFunction::kGelu}};
    case PointwiseOp::kGeluTanh:
      return {{0, 0, EpilogueFunction::kGeluTanh}};
    case PointwiseOp::kHardSigmoid:
      return {{a, b, EpilogueFunction::kHardSigmoid}};
    case PointwiseOp::kHardSwish:
      return {{0, 0, EpilogueFunction::kHardSwish}};
    case PointwiseOp::kLeakyRelu:
      return {{a, 0, EpilogueFunction::kLeakyRelu}};
    case PointwiseOp::kSigmoid:
      return {{0, 0, EpilogueFunction::kSigmoid}};
    case PointwiseOp::kSilu:
      return {{0, 0, EpilogueFunction::kSilu}};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<CommonEnd> common_epilogue(const EpilogueSpec& spec, int64_t rows, int64_t channels) {
  CommonEnd end;
  std::optional<EpilogueParameters> function;
  float scale = 1, shift = -0.0F;
  // What the next instruction may not come before any more.
  enum class Stage : uint8_t { kSum, kFunction, kFactors, kShifts, kNumbers, kDone } stage = Stage::kSum;
  for (const EpilogueSpec::Entry& e : spec.entries) {
    const bool is_whole = e.position >= 0 && rows > 1 && e.shape.numel() == rows * channels,
               is_channels = e.position >= 0 && !is_whole && channels > 1 && e.shape.numel() == channels;
    if (e.op == PointwiseOp::kAffine) {
      // A number is added behind a factor. Factors are not multiplied with each other: what overflows or
      // vanishes then may be a number in between when they are taken one by one.
      if (stage == Stage::kNumbers && e.a == 1 && shift == 0) {
        shift = e.b;
      } else {
        if (stage > Stage::kFunction) return std::nullopt;
        scale = e.a, shift = e.b;
      }
      stage = Stage::kNumbers;
    } else if (e.position < 0) {
      if (stage > Stage::kSum || !(function = epilogue_function(e.op, e.a, e.b))) return std::nullopt;
      stage = Stage::kFunction;
    } else if (e.op == PointwiseOp::kMul && is_channels && stage < Stage::kFactors) {
      end.factors = e.position;
      stage = Stage::kFactors;
    } else if (e.op == PointwiseOp::kAdd && is_channels && stage < Stage::kShifts) {
      end.shifts = e.position;
      stage = Stage::kShifts;
    } else if (e.op == PointwiseOp::kAdd && is_whole && end.addend < 0 && stage != Stage::kDone) {
      end.addend = e.position;
      end.finish.adds_last = stage > Stage::kSum;
      if (end.finish.adds_last) stage = Stage::kDone;
    } else {
      return std::nullopt;
    }
  }
  const bool adds_last = end.finish.adds_last;
  end.finish = function.value_or(EpilogueParameters{-kInfinity, kInfinity});
  end.finish.adds_last = adds_last;
  end.finish.scale = scale;
  end.finish.shift = shift;
  return end;
}

}  // namespace assay::engine
