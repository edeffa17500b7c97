// Col2Im with constant extents.
#include "kernels/pool/fold_columns.h"

#include "engine/tactics/conv/window_parameters.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "kernels/pool/window_rows.h"

namespace assay::engine::tactic_fold_columns {
namespace {

constexpr std::string_view kOperators[] = {"Col2Im"};

struct StepFields {
  WindowFields window;
  std::vector<int64_t> blocks;

  void fields(FieldVisitor& visit) {
    window.fields(visit);
    visit("blocks", blocks, window.axes, {1, kMaxOfWindow});
  }
};

/// An attribute with a number for each axis, or `otherwise` for each.
std::vector<int64_t> numbers_of(const Problem& p, std::string_view name, size_t count, int64_t otherwise) {
  std::vector<int64_t> v = p.attributes().attr_ints(std::string(name));
  if (v.empty()) v.assign(count, otherwise);
  return v;
}

std::string propose(const Problem& p, Proposals& proposals) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (!kernels::is_number(p.input_dtype(0)))
    return fmt::format("{} is not added", dtype_name(p.input_dtype(0)));
  const UnalignedTensor *image = p.input_constant(1), *block = p.input_constant(2);
  if (image == nullptr || block == nullptr) return "the extents of image or blocks are not constant";
  kernels::Window w{.in = image->aligned().to_int64(), .kernel = block->aligned().to_int64()};
  const size_t rank = w.in.size();
  w.strides = numbers_of(p, "strides", rank, 1);
  w.dilations = numbers_of(p, "dilations", rank, 1);
  const std::vector<int64_t> pads = numbers_of(p, "pads", 2 * rank, 0);
  if (rank == 0 || rank > kernels::kMaxWindowAxes || w.kernel.size() != rank || w.strides.size() != rank ||
      w.dilations.size() != rank || pads.size() != 2 * rank || in->size() != 3)
    return "its extents, strides or pads are not one for each axis";
  for (size_t d = 0; d < rank; ++d) {
    w.begin.push_back(pads[d]);
    const int64_t room = w.in[d] + pads[d] + pads[rank + d] - w.dilations[d] * (w.kernel[d] - 1) - 1;
    if (room < 0 || w.strides[d] < 1) return "a block does not fit";
    w.out.push_back(room / w.strides[d] + 1);
  }
  if (out->numel() == 0 || in->numel() != out->numel(0, 2) * w.taps() * w.out_size() ||
      Shape(w.in).numel() > kMaxOfWindow)
    return "its blocks do not fit the input";
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.add_input(p.node().input(0));
  b.add_output(p.node().output(0));
  b.write(StepFields{.window = window_fields(w), .blocks = w.out});
  b.estimate = estimate_seconds(static_cast<double>(in->numel()),
                                2.0 * static_cast<double>(storage_bytes(p.input_dtype(0), in->numel())), 0.1);
  return {};
}

class FoldKernel final : public Kernel {
 public:
  explicit FoldKernel(const StepReader& r) {
    const PlanValue& in = r.raw_input(0);
    type_ = in.dtype;
    const PlanValue& out = r.row_output(0, type_);
    StepReader::check(kernels::is_number(type_) && out.shape.size() >= 3 && out.shape.numel() > 0,
                      "it makes {}", out.shape.str());
    const auto p = r.read(StepFields{.window = window_fields(out.shape, out.shape, kernels::kMaxWindowAxes)});
    const std::vector<int64_t>& blocks = p.blocks;
    Shape positions = out.shape;
    std::copy(blocks.begin(), blocks.end(), positions.begin() + 2);
    window_ = window_over(r, p.window, out.shape, positions);
    planes_ = out.shape.numel(0, 2);
    int64_t elements = r.product({planes_, window_.taps()});
    for (const int64_t b : blocks) elements = r.product({elements, b});
    StepReader::check(in.shape.numel() == elements, "it has {} elements of {} in blocks", in.shape.numel(),
                      elements);
  }
  Status run(const KernelArgs& args) noexcept override {
    kernels::fold_columns(window_, type_, planes_, args.inputs[0], args.outputs[0]);
    return Status::kOk;
  }

 private:
  kernels::Window window_;
  DType type_ = DType::kFloat32;
  int64_t planes_ = 0;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  return std::make_unique<FoldKernel>(StepReader(plan, step, 1));
}

}  // namespace

constinit const TacticDef def = {
    .name = "fold_columns",
    .summary = "blocks added at their places in an image",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_fold_columns
