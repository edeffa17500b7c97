#include "engine/tactics/common_epilogue_kernel.h"

#include <limits>

namespace assay::engine {

using kernels::EpilogueParameters;
using kernels::PointwiseOp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::optional<EpilogueParameters> epilogue_function(PointwiseOp op, float a, float b) {
  switch (op) {
    case PointwiseOp::kRelu:
      return {{0, kInfinity}};
    case PointwiseOp::kClip:
    case PointwiseOp::kGelu:
    case PointwiseOp::kGeluTanh:
    case PointwiseOp::kHardSigmoid:
    case PointwiseOp::kHardSwish:
    case PointwiseOp::kLeakyRelu:
    case PointwiseOp::kSigmoid:
    case PointwiseOp::kSilu:
      return {{a, b, op}};
    default:
      return std::nullopt;
  }
}

namespace {

/// Takes an epilogue's instructions one by one, as far as they are in the order of CommonEnd.
class CommonEndReader {
 public:
  CommonEndReader(int64_t rows, int64_t channels) : rows_(rows), channels_(channels) {}

  /// False where the instruction has no place behind those before it.
  bool take(const EpilogueSpec::Entry& e) {
    if (e.op == PointwiseOp::kAffine) return take_numbers(e.a, e.b);
    if (e.position < 0) return take_function(e);
    return is_whole(e) ? take_addend(e) : is_channels(e) && take_channels(e);
  }

  CommonEnd end() const {
    CommonEnd end{.finish = function_, .addend = addend_, .factors = factors_, .shifts = shifts_};
    end.finish.adds_last = adds_last_;
    end.finish.scale = scale_;
    end.finish.shift = shift_;
    return end;
  }

 private:
  /// What the next instruction may not come before any more.
  enum class Stage : uint8_t { kSum, kFunction, kFactors, kShifts, kNumbers, kDone };

  /// Of an instruction with an operand: it is as large as the results.
  bool is_whole(const EpilogueSpec::Entry& e) const {
    return rows_ > 1 && e.shape.numel() == rows_ * channels_;
  }
  /// It has a number for each channel.
  bool is_channels(const EpilogueSpec::Entry& e) const {
    return channels_ > 1 && e.shape.numel() == channels_;
  }

  bool take_numbers(float factor, float summand) {
    // A number is added behind a factor. Factors are not multiplied with each other: what overflows or
    // vanishes then may be a number in between when they are taken one by one.
    if (stage_ == Stage::kNumbers && factor == 1 && shift_ == 0) {
      shift_ = summand;
      return true;
    }
    if (stage_ > Stage::kFunction) return false;
    scale_ = factor, shift_ = summand;
    stage_ = Stage::kNumbers;
    return true;
  }

  bool take_function(const EpilogueSpec::Entry& e) {
    const std::optional<EpilogueParameters> function = epilogue_function(e.op, e.a, e.b);
    if (stage_ > Stage::kSum || !function) return false;
    function_ = *function;
    stage_ = Stage::kFunction;
    return true;
  }

  bool take_channels(const EpilogueSpec::Entry& e) {
    if (e.op == PointwiseOp::kMul && stage_ < Stage::kFactors) {
      factors_ = e.position;
      stage_ = Stage::kFactors;
      return true;
    }
    if (e.op == PointwiseOp::kAdd && stage_ < Stage::kShifts) {
      shifts_ = e.position;
      stage_ = Stage::kShifts;
      return true;
    }
    return false;
  }

  bool take_addend(const EpilogueSpec::Entry& e) {
    if (e.op != PointwiseOp::kAdd || addend_ >= 0 || stage_ == Stage::kDone) return false;
    addend_ = e.position;
    adds_last_ = stage_ > Stage::kSum;
    if (adds_last_) stage_ = Stage::kDone;
    return true;
  }

  int64_t rows_, channels_;
  Stage stage_ = Stage::kSum;
  EpilogueParameters function_{-kInfinity, kInfinity};
  float scale_ = 1, shift_ = -0.0F;
  int32_t addend_ = -1, factors_ = -1, shifts_ = -1;
  bool adds_last_ = false;
};

}  // namespace

std::optional<CommonEnd> common_epilogue(const EpilogueSpec& spec, int64_t rows, int64_t channels) {
  CommonEndReader reader(rows, channels);
  for (const EpilogueSpec::Entry& e : spec.entries)
    if (!reader.take(e)) return std::nullopt;
  return reader.end();
}

}  // namespace assay::engine
