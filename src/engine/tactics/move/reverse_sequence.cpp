// ReverseSequence: the first elements of each sequence backwards.
#include "kernels/copy/reverse_sequence.h"

#include "engine/runtime/complaint.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_reverse_sequence {
namespace {

constexpr std::string_view kOperators[] = {"ReverseSequence"};

struct StepFields {
  bool by_sequence = false;  ///< the sequences are the first axis

  void fields(FieldVisitor& visit) { visit("by_sequence", by_sequence); }
};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *in = p.input_shape(0), *lengths = p.input_shape(1);
  if (in == nullptr || lengths == nullptr) return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  const int64_t time = int_attribute(p.node(), "time_axis", 0),
                batch = int_attribute(p.node(), "batch_axis", 1);
  if (in->rank() < 2 || time + batch != 1 || time * batch != 0 ||
      lengths->numel() != (*in)[static_cast<size_t>(batch)])
    return "its axes are not the first two, or the lengths are not one for each sequence";
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  b.add_input(p.node().input(1));
  b.add_output(p.node().output(0));
  b.write(StepFields{.by_sequence = batch == 0});
  b.estimate =
      estimate_seconds(0, 2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 1);
  return {};
}

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

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ReverseSequenceKernel>(StepReader(plan, step, 2));
}

}  // namespace

constinit const TacticDef def = {
    .name = "reverse_sequence",
    .summary = "the first elements of each sequence backwards",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_reverse_sequence
