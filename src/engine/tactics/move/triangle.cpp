// Trilu with a constant diagonal.
#include "kernels/copy/triangle.h"

#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"

namespace assay::engine::tactic_triangle {
namespace {

constexpr std::string_view kOperators[] = {"Trilu"};

struct StepFields {
  int64_t k = 0;
  bool upper = true;

  void fields(FieldVisitor& visit) {
    visit("k", k, kUnbounded);
    visit("upper", upper);
  }
};

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape* in = p.input_shape(0);
  if (in == nullptr) return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  if (in->rank() < 2) return "it is no matrix";
  int64_t k = 0;
  if (p.input_count() > 1 && p.has_input(1)) {
    const UnalignedTensor* given = p.input_constant(1);
    if (given == nullptr || given->numel() != 1) return "the diagonal is not constant";
    k = given->aligned().to_int64()[0];
  }
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  b.add_input(p.node().input(0));
  b.add_output(p.node().output(0));
  b.write(StepFields{.k = k, .upper = int_attribute(p.node(), "upper", 1) != 0});
  b.estimate =
      estimate_seconds(0, 2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 1);
  return {};
}

class TriangleKernel final : public Kernel {
 public:
  explicit TriangleKernel(const StepReader& r) : p_(r.read<StepFields>()) {
    const PlanValue& in = r.raw_input(0);
    StepReader::check(in.shape.size() >= 2 && r.row_output(0, in.dtype).shape == in.shape,
                      "it gives another shape than {}", in.shape.str());
    matrices_ = in.shape.numel(0, in.shape.size() - 2);
    rows_ = in.shape[in.shape.size() - 2];
    columns_ = in.shape.back();
    width_ = storage_bytes(in.dtype, 1);
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::copy_triangle(args.inputs[0], args.outputs[0], matrices_, rows_, columns_, p_.k, p_.upper,
                           width_);
    return Status::kOk;
  }

 private:
  StepFields p_;
  int64_t matrices_ = 0, rows_ = 0, columns_ = 0;
  size_t width_ = 0;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<TriangleKernel>(StepReader(plan, step, 1));
}

}  // namespace

constinit const TacticDef def = {
    .name = "triangle",
    .summary = "upper and lower triangles of matrices",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_triangle
