#include "engine/tactics/move/blocked_transpose_kernel.h"

#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_blocked_transpose {
namespace {

class TransposeKernel final : public Kernel {
 public:
  explicit TransposeKernel(kernels::StridedCopy copy) : copy_(std::move(copy)) {}
  Status run(const KernelArgs& args) noexcept override {
    copy_.run(args.inputs[0], args.outputs[0]);
    return Status::kOk;
  }

 private:
  kernels::StridedCopy copy_;
};

/// The axis pairs of a value that lies in blocks, as a walk: [N, C / block, spatial..., block].
std::vector<int64_t> walk_in_blocks(std::span<const int64_t> axes, int64_t step) {
  std::vector<int64_t> walk(axes.begin(), axes.end());
  walk[1] = axes[1] * step;
  walk.push_back(axes[1]);
  return walk;
}

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 1);
  const PlanValue &in = r.input(0), &out = r.output(0);
  const size_t rank = in.shape.size();
  StepReader::check(
      rank >= 3 && out.shape.size() == rank &&
          (in.layout.is_row() ? out.layout.is_blocked() : in.layout.is_blocked() && out.layout.is_row()),
      "it brings {} in {} into {} in {}", in.shape.str(), in.layout.str(), out.shape.str(), out.layout.str());
  const std::vector<int64_t> perm = r.read(StepFields{.rank = rank, .perm = {}}).perm;
  std::vector<int64_t> place(rank, -1);  // of the input's axes in the output
  for (size_t d = 0; d < rank; ++d) {
    const auto axis = static_cast<size_t>(perm[d]);
    StepReader::check(place[axis] < 0 && out.shape[d] == in.shape[axis], "axis {} of {} is not axis {} of {}",
                      d, out.shape.str(), axis, in.shape.str());
    place[axis] = static_cast<int64_t>(d);
  }
  const bool from_blocks = in.layout.is_blocked();
  const PlanValue &blocked = from_blocks ? in : out, &row = from_blocks ? out : in;
  const int64_t block = blocked.layout.block;
  StepReader::check(blocked.shape[1] % block == 0, "{} channels do not fill blocks of {}", blocked.shape[1],
                    block);
  std::vector<int64_t> row_strides;
  for (size_t d = 0; d < rank; ++d)
    row_strides.push_back(row.shape.strides()[static_cast<size_t>(from_blocks ? place[d] : perm[d])]);
  Shape domain = blocked.shape;
  domain[1] /= block;
  domain.push_back(block);
  const std::vector<int64_t> in_blocks = domain.strides(), in_row = walk_in_blocks(row_strides, block);
  return std::make_unique<TransposeKernel>(
      from_blocks ? kernels::StridedCopy(domain, in_blocks, in_row, sizeof(float))
                  : kernels::StridedCopy(domain, in_row, in_blocks, sizeof(float)));
}

}  // namespace assay::engine::tactic_blocked_transpose
