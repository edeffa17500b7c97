// TopK: the best elements of each line, in order.
#include "kernels/axis/top_k.h"

#include "engine/tactics/axis_walk.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_top_k {
namespace {

constexpr std::string_view kOperators[] = {"TopK"};

struct StepFields {
  AxisField axis;
  bool largest = true;

  void fields(FieldVisitor& visit) {
    axis.fields(visit);
    visit("largest", largest);
  }
};

std::string propose(const Problem& p, Proposals& proposals) {
  const Node& n = p.node();
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not searched", dtype_name(p.input_dtype(0)));
  if (in->rank() == 0) return "a single number has no axis";
  if ((*in)[static_cast<size_t>(normalize_axis(int_attribute(n, "axis", -1), in->rank()))] >
      kernels::kMaxOfTopK)
    return "the lines are too long";
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.write(StepFields{.axis = axis_field(int_attribute(n, "axis", -1), *in),
                     .largest = int_attribute(n, "largest", 1) != 0});
  b.add_input(n.input(0));
  for (size_t i = 0; i < 2; ++i) b.add_output(n.output(i));
  b.estimate =
      estimate_seconds(20.0 * static_cast<double>(out->numel()),
                       2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 0.05);
  return {};
}

class TopKKernel final : public Kernel {
 public:
  explicit TopKKernel(const StepReader& r) {
    const PlanValue& in = r.raw_input(0);
    type_ = in.dtype;
    StepReader::check(kernels::is_number(type_), "{} is not searched", dtype_name(type_));
    const auto p = r.read(StepFields{.axis = axis_field(in.shape)});
    const size_t axis = p.axis.at();
    walk_ = kernels::AxisWalk(in.shape, axis);
    StepReader::check(walk_.extent <= kernels::kMaxOfTopK, "its lines of {} are too long", walk_.extent);
    Shape out = r.row_output(0, type_).shape;
    StepReader::check(out.size() == in.shape.size() && out[axis] <= walk_.extent &&
                          r.row_output(1, DType::kInt64).shape == out,
                      "it selects {} of {}", out.str(), in.shape.str());
    k_ = out[axis];
    out[axis] = walk_.extent;
    StepReader::check(out == in.shape, "it selects from {}, not {}", in.shape.str(), out.str());
    largest_ = p.largest;
  }
  Status run(const KernelArgs& args) noexcept override {
    return kernels::top_k(walk_, type_, k_, largest_, args.inputs[0], args.outputs[0],
                          static_cast<int64_t*>(args.outputs[1]))
               ? Status::kOk
               : Status::kOutOfMemory;
  }

 private:
  kernels::AxisWalk walk_;
  DType type_ = DType::kFloat32;
  int64_t k_ = 0;
  bool largest_ = true;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<TopKKernel>(StepReader(plan, step, 1, 1, 2));
}

}  // namespace

constinit const TacticDef def = {
    .name = "top_k",
    .summary = "the largest or smallest elements of each line, in order",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_top_k
