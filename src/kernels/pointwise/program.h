// A straight-line program on typed registers, applied to every element: the form that chains of pointwise
// operators take before they run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/dtype.h"

namespace assay::kernels {

enum class PointwiseOp : uint8_t {
#define ASSAY_POINTWISE(name, arity, takes, gives) k##name,
#include "kernels/pointwise/pointwise_ops.def"
#undef ASSAY_POINTWISE
};

std::string_view pointwise_name(PointwiseOp op);
int pointwise_arity(PointwiseOp op);
/// Finds an instruction by its name in pointwise_ops.def.
std::optional<PointwiseOp> find_pointwise(std::string_view name);

/// The types of a register's elements. Bools are bytes; anything but 0 is true. Plans name a type by its
/// place here: a new one goes to the end.
inline constexpr DType kRegisterTypes[] = {
    DType::kFloat32, DType::kFloat64, DType::kInt32,  DType::kInt64,  DType::kBool,   DType::kInt8,
    DType::kUInt8,   DType::kInt16,   DType::kUInt16, DType::kUInt32, DType::kUInt64,
};

/// Bytes of an element, in a register or in memory.
constexpr size_t element_size(DType type) {
  switch (type) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUInt8:
      return 1;
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kFloat32:
    case DType::kInt32:
    case DType::kUInt32:
      return 4;
    default:
      return 8;
  }
}

/// The result's type for operands of these types; nothing where the instruction does not take them. Reads the
/// first pointwise_arity(op) of `args`.
std::optional<DType> pointwise_result(PointwiseOp op, const std::array<DType, 3>& args);

/// result = op(registers args[0], args[1], args[2]); unused args are -1.
struct PointwiseInstruction {
  PointwiseOp op;
  std::array<int16_t, 3> args = {-1, -1, -1};
  int16_t result = -1;
  float a = 0, b = 0;
  DType type = DType::kFloat32;  ///< of the operands but a choice's first
};

/// Registers 0 .. operands-1 hold the operands and are never written; the others are temporaries. Each
/// instruction writes one temporary. Results name the registers whose values leave the program.
class PointwiseProgram {
 public:
  /// Types are among kRegisterTypes. All operands float32.
  explicit PointwiseProgram(int operands)
      : PointwiseProgram(std::vector(static_cast<size_t>(operands), DType::kFloat32)) {}
  explicit PointwiseProgram(std::vector<DType> operands)
      : operands_(static_cast<int>(operands.size())), types_(std::move(operands)) {}

  /// Appends an instruction that writes a fresh register; returns that register. Throws Error (kInternal) for
  /// registers that do not exist or whose types the instruction does not take.
  int append(PointwiseOp op, std::array<int, 3> args, float a = 0, float b = 0);
  void add_result(int reg) { results_.push_back(static_cast<int16_t>(reg)); }
  /// Drops instructions that no result needs and lets temporaries share registers once their values are dead;
  /// a result shares its register with nothing. Call once, after the last append().
  void allocate_registers();

  int operands() const { return operands_; }
  int registers() const { return static_cast<int>(types_.size()); }
  DType type(int reg) const { return types_[static_cast<size_t>(reg)]; }
  const std::vector<PointwiseInstruction>& code() const { return code_; }
  const std::vector<int16_t>& results() const { return results_; }

 private:
  void remove_dead_code();

  int operands_;
  std::vector<DType> types_;  // of each register
  std::vector<PointwiseInstruction> code_;
  std::vector<int16_t> results_;
};

}  // namespace assay::kernels
