// ArgMax and ArgMin: where along an axis the best element stands.
#include "engine/tactics/axis_walk.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "kernels/axis/extreme.h"

namespace assay::engine::tactic_arg_extreme {
namespace {

constexpr std::string_view kOperators[] = {"ArgMax", "ArgMin"};

struct StepFields {
  AxisField axis;
  kernels::ExtremeRule rule;

  void fields(FieldVisitor& visit) {
    axis.fields(visit);
    visit("largest", rule.largest);
    visit("last", rule.last);
  }
};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not searched", dtype_name(p.input_dtype(0)));
  if (in->rank() == 0 || in->numel() == 0) return "there is no line of elements";
  const Node& n = p.node();
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(n.input(0));
  b.add_output(n.output(0));
  b.write(StepFields{
      .axis = axis_field(int_attribute(n, "axis", 0), *in),
      .rule = {.largest = n.op_type == "ArgMax", .last = int_attribute(n, "select_last_index", 0) != 0}});
  b.estimate = estimate_seconds(0, static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 1);
  return {};
}

class ArgExtremeKernel final : public Kernel {
 public:
  explicit ArgExtremeKernel(const StepReader& r) {
    const PlanValue &in = r.raw_input(0), &out = r.row_output(0, DType::kInt64);
    type_ = in.dtype;
    StepReader::check(kernels::is_number(type_), "{} is not searched", dtype_name(type_));
    const auto p = r.read(StepFields{.axis = axis_field(in.shape)});
    walk_ = kernels::AxisWalk(in.shape, p.axis.at());
    StepReader::check(walk_.extent > 0 && out.shape.numel() == walk_.lines(), "it finds {} places in {}",
                      out.shape.str(), in.shape.str());
    rule_ = p.rule;
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::find_extremes(walk_, type_, rule_, args.inputs[0], static_cast<int64_t*>(args.outputs[0]));
    return Status::kOk;
  }

 private:
  kernels::AxisWalk walk_;
  DType type_ = DType::kFloat32;
  kernels::ExtremeRule rule_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<ArgExtremeKernel>(StepReader(plan, step, 1));
}

}  // namespace

constinit const TacticDef def = {
    .name = "arg_extreme",
    .summary = "where along an axis the largest or smallest element stands",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_arg_extreme
