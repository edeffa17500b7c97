#include "engine/tactics/product/integer_product_kernel.h"

#include <algorithm>
#include <cstring>

namespace assay::engine {

namespace {

enum IntegerInput : size_t { kZeroPoint = 2, kAddend };

class IntegerEnd final : public SumsEnd {
 public:
  explicit IntegerEnd(bool as_float) : as_float_(as_float) {}

  void run(const KernelArgs& args, const TileEpilogue& finish,
           const TiledProduct::Tile& tile) const noexcept override {
    auto* const sums = static_cast<int32_t*>(tile.sums);
    const auto* addend = static_cast<const int32_t*>(args.inputs[kAddend]);
    if (addend != nullptr) addend += tile.column;
    for (int64_t r = 0; as_float_ && r < tile.rows; ++r)
      kernels::sums_to_floats(sums + r * tile.stride, addend, tile.columns);
    finish.run(args, tile.row, tile.rows, tile.column, tile.columns, static_cast<const float*>(tile.sums),
               tile.stride, tile.spare);
  }

 private:
  bool as_float_;
};

}  // namespace

StepReader read_integer_step(const Plan& plan, const Step& step) {
  return {plan, step, kInt8Inputs, kernels::kMaxPointwiseRegisters};
}

Int8Quantized quantized_integers(const StepReader& r) {
  const PlanValue& left = r.any_input(kInt8Left);
  StepReader::check(is_byte(left.dtype), "its left operand is {}", dtype_name(left.dtype));
  if (r.has_input(kZeroPoint)) r.check_elements(r.row_input(kZeroPoint, left.dtype), {1});
  return {.is_signed = left.dtype == DType::kInt8, .zero_point = 0, .input = kZeroPoint};
}

std::unique_ptr<SumsEnd> integer_end(const StepReader& r, int64_t columns) {
  const bool as_float = r.any_output(0).dtype != DType::kInt32;
  StepReader::check(as_float || !r.has_input(kAddend), "it adds to sums that it gives");
  if (r.has_input(kAddend)) r.check_elements(r.row_input(kAddend, DType::kInt32), {columns});
  return std::make_unique<IntegerEnd>(as_float);
}

}  // namespace assay::engine
