#include "engine/tactics/product/int8_product_kernel.h"

#include <algorithm>
#include <limits>

#include "engine/tactics/common_epilogue_kernel.h"
#include "kernels/int8/requantize.h"

namespace assay::engine {

namespace {

using kernels::PointwiseOp;

/// Inputs of the step besides the operands.
enum ScaledInput : size_t { kScale = 2, kBias };

bool quantizes(PointwiseOp op) {
  return op == PointwiseOp::kQuantizeUint8 || op == PointwiseOp::kQuantizeInt8;
}

using Entries = std::span<const EpilogueSpec::Entry>;

bool is_bound(PointwiseOp op) { return op == PointwiseOp::kRelu || op == PointwiseOp::kClip; }

/// Where all that happens is a bound on one side or both and the end in 8 bits.
std::optional<kernels::Requantization> requantization_of(Entries entries) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (entries.empty() || entries.size() > 2) return std::nullopt;
  const EpilogueSpec::Entry& last = entries.back();
  if (!quantizes(last.op)) return std::nullopt;
  kernels::Requantization r{.low = -kInfinity,
                            .high = kInfinity,
                            .scale = last.a,
                            .zero_point = static_cast<int>(last.b),
                            .is_signed = last.op == PointwiseOp::kQuantizeInt8};
  if (entries.size() == 2) {
    const EpilogueSpec::Entry& first = entries[0];
    if (!is_bound(first.op)) return std::nullopt;
    r.low = first.op == PointwiseOp::kRelu ? 0 : first.a;
    if (first.op == PointwiseOp::kClip) r.high = first.b;
  }
  return r;
}

/// A function, the addition of a whole tensor of 8 bits, or both, before that.
struct FunctionEnd {
  kernels::SumFunction function;
  std::optional<size_t> input;  ///< of the step: what is added
  kernels::QuantizedAddend addend;
  kernels::Requantization requantization;
};

/// Whether the operand has a value of 8 bits for each of the result, of which one row may not be one number
/// for each column.
bool adds_bytes(const StepReader& r, const EpilogueSpec::Entry& e, int64_t columns) {
  if (e.op != PointwiseOp::kAdd || e.position < 0) return false;
  const PlanValue &v = r.any_input(static_cast<size_t>(e.position)), &out = r.any_output(0);
  return (v.dtype == DType::kUInt8 || v.dtype == DType::kInt8) && v.shape.numel() == out.shape.numel() &&
         out.shape.numel() != columns;
}

std::optional<FunctionEnd> function_end(const StepReader& r, Entries entries, int64_t columns) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  FunctionEnd end{.function = {.a = -kInfinity, .b = kInfinity}};
  const size_t all = entries.size();
  if (!entries.empty())
    if (const auto function = epilogue_function(entries[0].op, entries[0].a, entries[0].b)) {
      end.function = {.op = function->function, .a = function->a, .b = function->b};
      entries = entries.subspan(1);
    }
  if (!entries.empty() && adds_bytes(r, entries[0], columns)) {
    end.input = static_cast<size_t>(entries[0].position);
    entries = entries.subspan(1);
  }
  const auto requantization = requantization_of(entries);
  if (!requantization || entries.size() == all) return std::nullopt;
  if (end.input) {
    const auto fields = r.read(OperandFields{1});
    end.addend = {.x = nullptr,
                  .pitch = columns,
                  .is_signed = r.any_input(*end.input).dtype == DType::kInt8,
                  .scale = static_cast<float>(fields.scales[0]),
                  .zero_point = static_cast<float>(fields.zero_points[0])};
  }
  end.requantization = *requantization;
  return end;
}

class ScaledEnd final : public SumsEnd {
 public:
  ScaledEnd(std::optional<kernels::Requantization> requantization, std::optional<FunctionEnd> function)
      : requantization_(requantization), function_(function) {}

  bool makes_quantized() const noexcept override { return requantization_.has_value(); }

  kernels::QuantizedEpilogue levels(const KernelArgs& args, const TileEpilogue& finish,
                                    const TiledProduct::Tile& tile) const noexcept override {
    return end_of(args, finish, tile, *requantization_);
  }

  void run(const KernelArgs& args, const TileEpilogue& finish,
           const TiledProduct::Tile& tile) const noexcept override {
    auto* const sums = static_cast<int32_t*>(tile.sums);
    if (function_) return run_function(args, finish, tile);
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
  static kernels::QuantizedEpilogue end_of(const KernelArgs& args, const TileEpilogue& finish,
                                           const TiledProduct::Tile& tile,
                                           const kernels::Requantization& requantization) {
    return {scale(args, tile), bias(args, tile), requantization, finish.result(args, tile.row, tile.column),
            finish.pitch()};
  }

  /// What is added has the result's layout.
  void run_function(const KernelArgs& args, const TileEpilogue& finish,
                    const TiledProduct::Tile& tile) const {
    kernels::SumFunction function = function_->function;
    kernels::QuantizedAddend addend = function_->addend;
    if (function_->input) {
      addend.x =
          static_cast<const char*>(args.inputs[*function_->input]) + tile.row * addend.pitch + tile.column;
      function.addend = &addend;
    }
    kernels::requantize_function(
        {static_cast<const int32_t*>(tile.sums), tile.stride, tile.rows, tile.columns},
        end_of(args, finish, tile, function_->requantization), function);
  }

  static const float* scale(const KernelArgs& args, const TiledProduct::Tile& tile) {
    return static_cast<const float*>(args.inputs[kScale]) + tile.column;
  }
  static const float* bias(const KernelArgs& args, const TiledProduct::Tile& tile) {
    const auto* const all = static_cast<const float*>(args.inputs[kBias]);
    return all == nullptr ? nullptr : all + tile.column;
  }

  std::optional<kernels::Requantization> requantization_;
  std::optional<FunctionEnd> function_;
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
  const EpilogueSpec spec = epilogue_spec(r, kInt8Inputs, true);
  const auto requantization = requantization_of(spec.entries);
  const auto function = requantization ? std::nullopt : function_end(r, spec.entries, columns);
  const DType dtype = r.any_output(0).dtype;
  StepReader::check(dtype != DType::kInt32, "its result is {}", dtype_name(dtype));
  if (requantization || function) {
    const bool is_signed = requantization ? requantization->is_signed : function->requantization.is_signed;
    StepReader::check(dtype == (is_signed ? DType::kInt8 : DType::kUInt8), "its result is {}",
                      dtype_name(dtype));
  }
  return std::make_unique<ScaledEnd>(requantization, function);
}

}  // namespace assay::engine
