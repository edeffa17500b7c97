// A straight-line program on float32 registers, applied to every element: the form that chains of pointwise
// operators take before they run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::kernels {

enum class PointwiseOp : uint8_t {
#define ASSAY_POINTWISE(name, arity) k##name,
#include "kernels/pointwise/pointwise_ops.def"
#undef ASSAY_POINTWISE
};

std::string_view pointwise_name(PointwiseOp op);
int pointwise_arity(PointwiseOp op);
/// Finds an instruction by its name in pointwise_ops.def.
std::optional<PointwiseOp> find_pointwise(std::string_view name);

/// result = op(registers args[0], args[1], args[2]); unused args are -1.
struct PointwiseInstruction {
  PointwiseOp op;
  std::array<int16_t, 3> args = {-1, -1, -1};
  int16_t result = -1;
  float a = 0, b = 0;
};

/// Registers 0 .. operands-1 hold the operands and are never written; the others are temporaries. Each
/// instruction writes one temporary. Results name the registers whose values leave the program.
class PointwiseProgram {
 public:
  explicit PointwiseProgram(int operands) : operands_(operands), registers_(operands) {}

  /// Appends an instruction that writes a fresh register; returns that register.
  int append(PointwiseOp op, std::array<int, 3> args, float a = 0, float b = 0);
  void add_result(int reg) { results_.push_back(static_cast<int16_t>(reg)); }
  /// Drops instructions that no result needs and lets temporaries share registers once their values are dead;
  /// a result shares its register with nothing. Call once, after the last append().
  void allocate_registers();

  int operands() const { return operands_; }
  int registers() const { return registers_; }
  const std::vector<PointwiseInstruction>& code() const { return code_; }
  const std::vector<int16_t>& results() const { return results_; }

 private:
  void remove_dead_code();

  int operands_, registers_;
  std::vector<PointwiseInstruction> code_;
  std::vector<int16_t> results_;
};

}  // namespace assay::kernels
