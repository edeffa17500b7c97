#include "engine/tactics/product/dequantize_kernel.h"

#include "tensor/convert.h"
#include "tensor/packed_bits.h"

namespace assay::engine::tactic_dequantize {
namespace {

kernels::LevelNumbers numbers_of(DType type) {
  const int bits = bit_width(type);
  std::vector<uint8_t> codes(size_t{1} << bits);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i);
  Tensor all = Tensor::allocate(type, Shape{static_cast<int64_t>(codes.size())});
  auto* const bytes = static_cast<uint8_t*>(all.mutable_data());
  if (bits == 8)
    std::copy(codes.begin(), codes.end(), bytes);
  else
    pack_bits(codes, bits, bytes);
  const Tensor numbers = convert(all, DType::kFloat32);
  kernels::LevelNumbers table{};
  std::copy_n(numbers.data<float>(), codes.size(), table.begin());
  return table;
}

const PlanValue& row_of_type(const StepReader& r, size_t i, DType type) {
  const PlanValue& v = r.any_input(i);
  StepReader::check(v.dtype == type && v.layout.is_row(), "input {} is {}, not rows of {}", i,
                    dtype_name(v.dtype), dtype_name(type));
  return v;
}

class DequantizeKernel final : public Kernel {
 public:
  explicit DequantizeKernel(const StepReader& r) : q_(r.read<StepFields>().q) {
    const DType type = r.any_input(0).dtype;
    StepReader::check(has_table(type), "there is no table of {}", dtype_name(type));
    q_.bits = bit_width(type);
    const int64_t all = StepReader::product({q_.outer, q_.extent, q_.inner}),
                  scales = StepReader::product({q_.scales()});
    r.check_elements(row_of_type(r, 0, type), {all});
    r.check_elements(r.row_input(1), {scales});
    if (r.has_input(2)) r.check_elements(row_of_type(r, 2, type), {scales});
    r.check_elements(r.row_output(0), {all});
    numbers_ = numbers_of(type);
  }

  Status run(const KernelArgs& args) noexcept override {
    kernels::dequantize(q_, numbers_, static_cast<const uint8_t*>(args.inputs[0]),
                        static_cast<const float*>(args.inputs[1]),
                        static_cast<const uint8_t*>(args.inputs[2]), static_cast<float*>(args.outputs[0]));
    return Status::kOk;
  }

 private:
  kernels::QuantizedBlocks q_;
  kernels::LevelNumbers numbers_{};
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<DequantizeKernel>(StepReader(plan, step, 3));
}

}  // namespace assay::engine::tactic_dequantize
