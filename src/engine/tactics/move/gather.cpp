// Gather along one axis: rows selected by index.
#include "engine/tactics/move/gather_kernel.h"
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
  b.write(StepFields{.axis = static_cast<int64_t>(axis),
                     .outer = in.numel(0, axis),
                     .extent = in[axis],
                     .count = p.input_shape(1)->numel(),
                     .row_bytes = in.numel(axis + 1, in.size()) * width});
  return {};
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
