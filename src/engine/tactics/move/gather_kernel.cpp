#include "engine/tactics/move/gather_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_gather {
namespace {

template <typename Index>
class GatherKernel final : public ComplainingKernel {
 public:
  explicit GatherKernel(const StepReader& r) : p_(r.read<StepFields>()) {
    // A constant table may be given as its bytes.
    const PlanValue &in = r.raw_input(0), &given = r.raw_output(0),
                    &out = r.row_output(
                        0, in.dtype == DType::kUInt8 && given.dtype != DType::kBool ? given.dtype : in.dtype);
    StepReader::check(
        r.product({p_.outer, p_.extent, p_.row_bytes}) == static_cast<int64_t>(in.bytes()) &&
            r.product({p_.outer, p_.count, p_.row_bytes}) == static_cast<int64_t>(out.bytes()) &&
            r.input(1, sizeof(Index) == 4 ? DType::kInt32 : DType::kInt64).shape.numel() == p_.count,
        "it picks {} rows of {} bytes from {} for {}", p_.count, p_.row_bytes, in.shape.str(),
        out.shape.str());
  }
  Status run(const KernelArgs& args) noexcept override {
    const bool in_range =
        kernels::gather(args.inputs[0], static_cast<const Index*>(args.inputs[1]), args.outputs[0], p_.outer,
                        p_.extent, p_.count, static_cast<size_t>(p_.row_bytes));
    return in_range ? Status::kOk : Status::kBadIndex;
  }
  std::string complaint(const KernelArgs& args) const override {
    return index_complaint<Index>(args.inputs[1], p_.count, p_.extent, static_cast<size_t>(p_.axis));
  }

 private:
  StepFields p_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 2);
  if (r.raw_input(1).dtype == DType::kInt32) return std::make_unique<GatherKernel<int32_t>>(r);
  return std::make_unique<GatherKernel<int64_t>>(r);
}

}  // namespace assay::engine::tactic_gather
