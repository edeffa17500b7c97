// Gather along one axis: rows picked by index.
#include "kernels/copy/gather.h"

#include "engine/tactics/index_complaint.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_gather {
namespace {

constexpr std::string_view kOperators[] = {"Gather"};

std::string supports(const Problem& p) {
  if (p.input_shape(0) == nullptr || p.input_shape(1) == nullptr || p.output_shape(0) == nullptr)
    return "the shape is not known before the run";
  if (bit_width(p.input_dtype(0)) < 8) return "elements that are not whole bytes cannot be copied";
  if (p.input_dtype(1) != DType::kInt64 && p.input_dtype(1) != DType::kInt32)
    return "the indices are neither int32 nor int64";
  return {};
}

/// The table where the model has it, at any address: of a large one few rows are ever read.
Tensor bytes_of(const UnalignedTensor& table) {
  return Tensor::view(DType::kUInt8, Shape{static_cast<int64_t>(table.nbytes())}, table.data(),
                      std::make_shared<const UnalignedTensor>(table));
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  Candidate& b = proposals.add({}, NumericsClass::kExact);
  const Shape& in = *p.input_shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(p.attributes().attr_int("axis"), in.rank()));
  const auto width = static_cast<int64_t>(storage_bytes(p.input_dtype(0), 1));
  const UnalignedTensor* table = p.input_constant(0);
  if (table != nullptr && table->dtype() != DType::kBool)
    b.add_constant(p.node().input(0)->name(), *table, PlanConstant::kAsBytes,
                   [table = *table] { return bytes_of(table); });
  else
    b.add_input(p.node().input(0));
  b.add_input(p.node().input(1));
  b.add_output(p.node().output(0));
  Parameters& parameters = b.step.parameters;
  parameters.set("axis", static_cast<int64_t>(axis));
  parameters.set("outer", in.numel(0, axis));
  parameters.set("extent", in[axis]);
  parameters.set("count", p.input_shape(1)->numel());
  parameters.set("row_bytes", in.numel(axis + 1, in.size()) * width);
  return {};
}

constexpr int64_t kMaxAxes = 64;

template <typename Index>
class GatherKernel final : public ComplainingKernel {
 public:
  explicit GatherKernel(const StepReader& r)
      : outer_(r.number("outer")),
        extent_(r.number("extent")),
        count_(r.number("count")),
        row_bytes_(static_cast<size_t>(r.number("row_bytes"))),
        axis_(static_cast<size_t>(r.number("axis", 0, kMaxAxes))) {
    // A constant table may be given as its bytes.
    const PlanValue &in = r.raw_input(0), &given = r.raw_output(0),
                    &out = r.row_output(
                        0, in.dtype == DType::kUInt8 && given.dtype != DType::kBool ? given.dtype : in.dtype);
    const auto row = static_cast<int64_t>(row_bytes_);
    StepReader::check(
        r.product({outer_, extent_, row}) == static_cast<int64_t>(in.bytes()) &&
            r.product({outer_, count_, row}) == static_cast<int64_t>(out.bytes()) &&
            r.input(1, sizeof(Index) == 4 ? DType::kInt32 : DType::kInt64).shape.numel() == count_,
        "it picks {} rows of {} bytes from {} for {}", count_, row, in.shape.str(), out.shape.str());
  }
  Status run(const KernelArgs& args) noexcept override {
    const bool in_range = kernels::gather(args.inputs[0], static_cast<const Index*>(args.inputs[1]),
                                          args.outputs[0], outer_, extent_, count_, row_bytes_);
    return in_range ? Status::kOk : Status::kBadIndex;
  }
  std::string complaint(const KernelArgs& args) const override {
    return index_complaint<Index>(args.inputs[1], count_, extent_, axis_);
  }

 private:
  int64_t outer_, extent_, count_;
  size_t row_bytes_, axis_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r(plan, step, 2);
  if (r.raw_input(1).dtype == DType::kInt32) return std::make_unique<GatherKernel<int32_t>>(r);
  return std::make_unique<GatherKernel<int64_t>>(r);
}

}  // namespace

constinit const TacticDef def = {
    .name = "gather",
    .summary = "rows picked by indices",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_gather
