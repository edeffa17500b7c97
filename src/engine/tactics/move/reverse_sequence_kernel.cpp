#include "engine/tactics/move/reverse_sequence_kernel.h"

#include "engine/runtime/complaint.h"
#include "engine/runtime/step_reader.h"

namespace assay::engine::tactic_reverse_sequence {
namespace {

class ReverseSequenceKernel final : public ComplainingKernel {
 public:
  explicit ReverseSequenceKernel(const StepReader& r) {
    const PlanValue &in = r.raw_input(0), &lengths = r.row_input(1, DType::kInt64);
    const bool by_sequence = r.read<StepFields>().by_sequence;
    StepReader::check(in.shape.size() >= 2 && r.row_output(0, in.dtype).shape == in.shape &&
                          lengths.shape.numel() == in.shape[by_sequence ? 0 : 1],
                      "it has lengths of {} for {}", lengths.shape.str(), in.shape.str());
    walk_ = {.sequences = in.shape[by_sequence ? 0 : 1],
             .times = in.shape[by_sequence ? 1 : 0],
             .bytes = storage_bytes(in.dtype, in.shape.numel(2, in.shape.size())),
             .by_sequence = by_sequence};
  }
  Status run(const KernelArgs& args) noexcept override {
    return kernels::reverse_sequences(walk_, args.inputs[0], static_cast<const int64_t*>(args.inputs[1]),
                                      args.outputs[0])
               ? Status::kOk
               : Status::kBadIndex;
  }
  std::string complaint(const KernelArgs& args) const override {
    const auto* lengths = static_cast<const int64_t*>(args.inputs[1]);
    for (int64_t i = 0; i < walk_.sequences; ++i)
      if (lengths[i] < 0 || lengths[i] > walk_.times)
        return fmt::format("a sequence length is {}, the time axis has extent {}", lengths[i], walk_.times);
    return {};
  }

 private:
  kernels::SequenceWalk walk_;
};

}  // namespace

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ReverseSequenceKernel>(StepReader(plan, step, 2));
}

}  // namespace assay::engine::tactic_reverse_sequence
