// Gather along one axis: rows picked by index.
#include "kernels/copy/gather.h"

#include "engine/tactics/index_complaint.h"
#include "engine/tactics/step_reader.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_gather {
namespace {

constexpr std::string_view kOperators[] = {"Gather"};

constexpr int64_t kMaxAxes = 64;

struct StepFields {
  int64_t axis = 0;
  int64_t outer = 0, extent = 0, count = 0, row_bytes = 0;

  void fields(FieldVisitor& visit) {
    visit("axis", axis, {0, kMaxAxes});
    visit("outer", outer);
    visit("extent", extent);
    visit("count", count);
    visit("row_bytes", row_bytes);
  }
};

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
  b.write(StepFields{.axis = static_cast<int64_t>(axis),
                     .outer = in.numel(0, axis),
                     .extent = in[axis],
                     .count = p.input_shape(1)->numel(),
                     .row_bytes = in.numel(axis + 1, in.size()) * width});
  return {};
}

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
