// Checked reading of steps by factories: plans may be untrusted, so nothing is used unchecked.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/runtime/step_fields.h"

namespace assay::engine {

/// Of extents, strides and paddings of windows: what oneDNN counts with are 32 bits.
inline constexpr int64_t kMaxOfWindow = std::numeric_limits<int32_t>::max();
/// Maximum number of threads of a step.
inline constexpr int64_t kMaxThreads = int64_t{1} << 16;

/// A step whose every access is checked. All of it throws Error (kInvalidModel) with the violated rule; the
/// caller adds step and tactic.
class StepReader {
 public:
  static constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

  /// For a step that must have at least `inputs` inputs and at most
  /// `most_inputs`, including omitted ones, and `outputs` outputs. Computing
  /// in place and placing inputs is refused unless allowed in `may`.
  enum class May : uint8_t { kNeither, kComputeInPlace, kPlaceInputs };
  StepReader(const Plan& plan, const Step& step, size_t inputs, size_t most_inputs, size_t outputs = 1,
             May may = May::kNeither);
  /// The same for exactly this number of inputs.
  StepReader(const Plan& plan, const Step& step, size_t inputs) : StepReader(plan, step, inputs, inputs) {}

  const Step& step() const { return step_; }
  const Plan& plan() const { return plan_; }

  bool has_input(size_t i) const { return i < step_.inputs.size() && step_.inputs[i] >= 0; }
  bool has_output(size_t i) const { return i < step_.outputs.size() && step_.outputs[i] >= 0; }
  /// Operands in memory, of any type and in any layout; of this type; row-major ones.
  const PlanValue& any_input(size_t i) const { return operand(step_.inputs, i, "input"); }
  const PlanValue& any_output(size_t i) const { return operand(step_.outputs, i, "output"); }
  const PlanValue& input(size_t i, DType dtype = DType::kFloat32) const;
  const PlanValue& output(size_t i, DType dtype = DType::kFloat32) const;
  const PlanValue& row_input(size_t i, DType dtype = DType::kFloat32) const;
  const PlanValue& row_output(size_t i, DType dtype = DType::kFloat32) const;
  /// Row-major ones of any type of whole bytes.
  const PlanValue& raw_input(size_t i) const;
  const PlanValue& raw_output(size_t i) const;
  /// Row-major float32 elements, exactly this number.
  void check_elements(const PlanValue& v, std::initializer_list<int64_t> factors) const;
  /// Optional input i: this number of row-major float32 elements. True when it is present.
  bool optional_elements(size_t i, std::initializer_list<int64_t> factors) const;

  /// The parameters that `fields` describes.
  template <typename Fields>
  Fields read(Fields fields = {}) const {
    FieldReader reader(step_.parameters);
    fields.fields(reader);
    return fields;
  }

  /// Requires at least this much scratch memory in the step.
  void check_scratch(int64_t bytes) const;
  /// Requires that only output 0 may be computed in place, in this input's memory.
  void check_in_place(size_t input) const;
  /// Requires that a strided walk over a value's elements from `offset` on stays inside.
  void check_walk(const PlanValue& v, const Shape& extents, std::span<const int64_t> strides,
                  int64_t offset = 0) const;
  /// The product, which must fit in 48 bits.
  static int64_t product(std::initializer_list<int64_t> factors);

  /// The only node of network `i` of the step, which is a model. The step's outputs are the node's.
  const Node& network_node(size_t i) const;
  const PlanNetwork& network(size_t i) const;
  /// Throws Error (kInvalidModel) unless network `i` of
  /// the step has these numbers of inputs and outputs.
  void check_network(size_t i, size_t inputs, size_t outputs) const;

  template <typename... Args>
  static void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
    check_plan(condition, format, std::forward<Args>(args)...);
  }

 private:
  const PlanValue& operand(const std::vector<int32_t>& ids, size_t i, const char* what) const;
  const PlanValue& typed(const std::vector<int32_t>& ids, size_t i, const char* what, DType dtype) const;

  const Plan& plan_;
  const Step& step_;
};

}  // namespace assay::engine
