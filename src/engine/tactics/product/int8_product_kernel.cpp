#include "engine/tactics/product/int8_product_kernel.h"

#include <algorithm>
#include <limits>

#include "kernels/int8/requantize.h"

namespace assay::engine {

namespace {

using kernels::PointwiseOp;

/// Inputs of the step besides the operands.
enum ScaledInput : size_t { kScale = 2, kBias };

bool quantizes(PointwiseOp op) {
  return op == PointwiseOp::kQuantizeUint8 || op == PointwiseOp::kQuantizeInt8;
}

/// Where all that happens is a bound on one side or both and the end in 8 bits.
std::optional<kernels::Requantization> requantization_of(const EpilogueSpec& spec) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (spec.entries.empty() || spec.entries.size() > 2) return std::nullopt;
  const EpilogueSpec::Entry& last = spec.entries.back();
  if (!quantizes(last.op)) return std::nullopt;
  kernels::Requantization r{.low = -kInfinity,
                            .high = kInfinity,
                            .scale = last.a,
                            .zero_point = static_cast<int>(last.b),
                            .is_signed = last.op == PointwiseOp::kQuantizeInt8};
  if (spec.entries.size() == 2) {
    const EpilogueSpec::Entry& first = spec.entries[0];
    if (first.op == PointwiseOp::kRelu)
      r.low = 0;
    else if (first.op == PointwiseOp::kClip)
      r.low = first.a, r.high = first.b;
    else
      return std::nullopt;
  }
  return r;
}

class ScaledEnd final : public SumsEnd {
 public:
  explicit ScaledEnd(std::optional<kernels::Requantization> requantization)
      : requantization_(requantization) {}

  bool makes_quantized() const noexcept override { return requantization_.has_value(); }

  kernels::QuantizedEpilogue levels(const KernelArgs& args, const TileEpilogue& finish,
                                    const TiledProduct::Tile& tile) const noexcept override {
    return {scale(args, tile), bias(args, tile), *requantization_, finish.result(args, tile.row, tile.column),
            finish.pitch()};
  }

  void run(const KernelArgs& args, const TileEpilogue& finish,
           const TiledProduct::Tile& tile) const noexcept override {
    auto* const sums = static_cast<int32_t*>(tile.sums);
    char* const out = finish.result(args, tile.row, tile.column);
    const bool plain = finish.is_plain();
    for (int64_t r = 0; r < tile.rows; ++r) {
      int32_t* const from = sums + r * tile.stride;
      char* const to = out + r * finish.pitch();
      kernels::scale_sums(from, tile.columns, scale(args, tile), bias(args, tile),
                          reinterpret_cast<float*>(plain ? to : reinterpret_cast<char*>(from)));
    }
    if (plain) return;
    finish.run(args, tile.row, tile.rows, tile.column, tile.columns, static_cast<const float*>(tile.sums),
               tile.stride, tile.spare);
  }

 private:
  static const float* scale(const KernelArgs& args, const TiledProduct::Tile& tile) {
    return static_cast<const float*>(args.inputs[kScale]) + tile.column;
  }
  static const float* bias(const KernelArgs& args, const TiledProduct::Tile& tile) {
    const auto* const all = static_cast<const float*>(args.inputs[kBias]);
    return all == nullptr ? nullptr : all + tile.column;
  }

  std::optional<kernels::Requantization> requantization_;
};

}  // namespace

StepReader read_int8_step(const Plan& plan, const Step& step) {
  return {plan, step, kInt8Inputs, kernels::kMaxPointwiseRegisters};
}

Int8Quantized int8_quantized(const StepReader& r) {
  const PlanValue& x = r.any_input(kInt8Left);
  StepReader::check(x.dtype == DType::kUInt8 || x.dtype == DType::kInt8, "its input is {}",
                    dtype_name(x.dtype));
  const bool is_signed = x.dtype == DType::kInt8;
  const int64_t zero =
      r.read(Int8Fields{.least_zero = is_signed ? -128 : 0, .most_zero = is_signed ? 127 : 255}).x_zero_point;
  return {.is_signed = is_signed, .zero_point = static_cast<int>(zero)};
}

std::unique_ptr<SumsEnd> scaled_end(const StepReader& r, int64_t columns) {
  r.check_elements(r.row_input(kScale), {columns});
  r.optional_elements(kBias, {columns});
  const auto requantization = requantization_of(epilogue_spec(r, kInt8Inputs, true));
  const DType dtype = r.any_output(0).dtype;
  StepReader::check(dtype != DType::kInt32, "its result is {}", dtype_name(dtype));
  if (requantization)
    StepReader::check(dtype == (requantization->is_signed ? DType::kInt8 : DType::kUInt8), "its result is {}",
                      dtype_name(dtype));
  return std::make_unique<ScaledEnd>(requantization);
}

}  // namespace assay::engine
