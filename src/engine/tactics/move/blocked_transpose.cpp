// Transpose from blocks of channels to row-major memory, or the other way round: where channels become the
// last axis, or the last axis channels, whole blocks stay together.
#include <algorithm>

#include "analysis/match.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/copy/strided_copy.h"

namespace assay::engine::tactic_blocked_transpose {
namespace {

constexpr std::string_view kOperators[] = {"Transpose"};

struct StepFields {
  size_t rank = 0;
  std::vector<int64_t> perm;

  void fields(FieldVisitor& visit) { visit("perm", perm, rank, {0, static_cast<int64_t>(rank) - 1}); }
};

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32) return "only float32 lies in blocks of channels";
  return {};
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  const Shape &in = *p.input_shape(0), &out = *p.output_shape(0);
  std::vector<int64_t> perm = ints_attribute(p.node(), "perm");
  for (int64_t axis = in.rank(); perm.size() < in.size();) perm.push_back(--axis);
  const auto add = [&](Layout from, Layout to) {
    Candidate& b = proposals.add(from.str() + " to " + to.str(), NumericsClass::kExact);
    b.add_input(p.node().input(0), from);
    b.add_output(p.node().output(0), to);
    b.write(StepFields{.perm = perm});
    b.estimate = estimate_seconds(0, 8.0 * static_cast<double>(in.numel()), 1);
  };
  for (const Layout layout : p.layouts(DType::kFloat32, in)) {
    if (!layout.is_blocked()) continue;
    if (in[1] % layout.block == 0) add(layout, {});
    if (out[1] % layout.block == 0) add({}, layout);
  }
  return proposals.candidates().empty() ? "no axis of channels fills its blocks" : "";
}

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

}  // namespace

constinit const TacticDef def = {
    .name = "blocked_transpose",
    .summary = "Transpose between blocks of channels and row-major memory",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_blocked_transpose
