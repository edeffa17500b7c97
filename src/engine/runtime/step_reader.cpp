#include "engine/runtime/step_reader.h"

namespace assay::engine {
namespace {

constexpr uint64_t kMaxElements = uint64_t{1} << 48;

void check_row(const PlanValue& v) {
  StepReader::check(v.layout.is_row(), "'{}' lies in {}", v.name, v.layout.str());
}

}  // namespace

StepReader::StepReader(const Plan& plan, const Step& step, size_t inputs, size_t most_inputs, size_t outputs,
                       May may)
    : plan_(plan), step_(step) {
  check(step.inputs.size() >= inputs && step.inputs.size() <= most_inputs, "it has {} inputs",
        step.inputs.size());
  check(outputs == kAnyNumber || step.outputs.size() == outputs, "it has {} outputs", step.outputs.size());
  check(step.in_place.empty() || may == May::kComputeInPlace, "it cannot compute in the place of an input");
  check(step.placements.empty() || may == May::kPlaceInputs, "it cannot have inputs placed in its output");
}

const PlanValue& StepReader::operand(const std::vector<int32_t>& ids, size_t i, const char* what) const {
  check(i < ids.size() && ids[i] >= 0, "{} {} is left out", what, i);
  const PlanValue& v = plan_.values[static_cast<size_t>(ids[i])];
  check(v.has_shape && bit_width(v.dtype) != 0 && v.storage != Storage::kTensor &&
            v.storage != Storage::kUnused,
        "{} {} ('{}') has no place in memory", what, i, v.name);
  return v;
}

const PlanValue& StepReader::typed(const std::vector<int32_t>& ids, size_t i, const char* what,
                                   DType dtype) const {
  const PlanValue& v = operand(ids, i, what);
  check(v.dtype == dtype, "{} {} ('{}') is {}, not {}", what, i, v.name, dtype_name(v.dtype),
        dtype_name(dtype));
  return v;
}

const PlanValue& StepReader::input(size_t i, DType dtype) const {
  return typed(step_.inputs, i, "input", dtype);
}
const PlanValue& StepReader::output(size_t i, DType dtype) const {
  return typed(step_.outputs, i, "output", dtype);
}

const PlanValue& StepReader::row_input(size_t i, DType dtype) const {
  const PlanValue& v = input(i, dtype);
  check_row(v);
  return v;
}

const PlanValue& StepReader::row_output(size_t i, DType dtype) const {
  const PlanValue& v = output(i, dtype);
  check_row(v);
  return v;
}

const PlanValue& StepReader::raw_input(size_t i) const {
  const PlanValue& v = operand(step_.inputs, i, "input");
  check(bit_width(v.dtype) >= 8, "'{}' has elements of less than a byte", v.name);
  check_row(v);
  return v;
}

const PlanValue& StepReader::raw_output(size_t i) const {
  const PlanValue& v = operand(step_.outputs, i, "output");
  check(bit_width(v.dtype) >= 8, "'{}' has elements of less than a byte", v.name);
  check_row(v);
  return v;
}

void StepReader::check_elements(const PlanValue& v, std::initializer_list<int64_t> factors) const {
  check(v.shape.numel() == product(factors), "'{}' of shape {} does not have {} elements", v.name,
        v.shape.str(), product(factors));
}

bool StepReader::optional_elements(size_t i, std::initializer_list<int64_t> factors) const {
  if (!has_input(i)) return false;
  check_elements(row_input(i), factors);
  return true;
}

void StepReader::check_scratch(int64_t bytes) const {
  check(bytes <= step_.scratch_bytes, "it has {} bytes of scratch memory and needs {}", step_.scratch_bytes,
        bytes);
}

void StepReader::check_in_place(size_t input) const {
  for (const auto& [out, in] : step_.in_place)
    check(out == 0 && static_cast<size_t>(in) == input,
          "it cannot compute output {} in the place of input {}", out, in);
}

void StepReader::check_walk(const PlanValue& v, const Shape& extents, std::span<const int64_t> strides,
                            int64_t offset) const {
  check(extents.size() == strides.size(), "a walk over {} axes has {} strides", extents.size(),
        strides.size());
  const auto elements = static_cast<int64_t>(v.bytes() / storage_bytes(v.dtype, 1));
  int64_t first = offset, last = offset;
  bool fits = first >= 0 && first <= elements;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 0) return;  // there is nothing to walk over
    int64_t reach = 0;
    int64_t& end = strides[d] < 0 ? first : last;
    fits = fits && !__builtin_mul_overflow(extents[d] - 1, strides[d], &reach) &&
           !__builtin_add_overflow(end, reach, &end);
  }
  check(fits && first >= 0 && last < elements, "it would leave the {} elements of '{}'", elements, v.name);
}

const PlanNetwork& StepReader::network(size_t i) const {
  check(i < step_.networks.size(), "it has {} networks", step_.networks.size());
  return plan_.networks[static_cast<size_t>(step_.networks[i])];
}

const Node& StepReader::network_node(size_t i) const {
  const PlanNetwork& n = network(i);
  check(n.model != nullptr && n.model->graph->nodes().size() == 1, "its network {} is not a single node", i);
  const Node& node = *n.model->graph->nodes()[0];
  check(step_.inputs.size() >= node.inputs().size() && step_.outputs.size() == node.outputs().size(),
        "it has {} inputs and {} outputs for {}", step_.inputs.size(), step_.outputs.size(), node.label());
  return node;
}

void StepReader::check_network(size_t i, size_t inputs, size_t outputs) const {
  const PlanNetwork& n = network(i);
  const size_t takes = n.plan != nullptr ? n.plan->inputs.size() : n.model->graph->inputs.size(),
               gives = n.plan != nullptr ? n.plan->outputs.size() : n.model->graph->outputs.size();
  check(takes == inputs && gives == outputs, "its network {} has {} inputs and {} outputs, not {} and {}", i,
        takes, gives, inputs, outputs);
}

int64_t StepReader::product(std::initializer_list<int64_t> factors) {
  uint64_t total = 1;
  for (const int64_t f : factors) {
    check(f >= 0 && !__builtin_mul_overflow(total, static_cast<uint64_t>(f), &total) && total <= kMaxElements,
          "its sizes are beyond any memory");
  }
  return static_cast<int64_t>(total);
}

}  // namespace assay::engine
