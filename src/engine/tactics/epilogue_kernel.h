// Epilogues of convolutions and matrix products before results are stored, as stored in a step, and their
// execution by the vector interpreter, for kernels without their own.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/step_reader.h"
#include "kernels/pointwise/pointwise.h"

namespace assay::engine {

/// Of an epilogue or a pointwise program.
inline constexpr size_t kMaxInstructions = 4096;

/// An epilogue in a step; none: nothing is written.
struct EpilogueFields {
  std::vector<std::string> names = {};
  std::vector<double> as = {}, bs = {};
  std::vector<int64_t> operands = {};  ///< positions among the step's inputs; -1: none

  void fields(FieldVisitor& visit);
};

/// Instructions on a result, with the step inputs that are their operands.
struct EpilogueSpec {
  struct Entry {
    kernels::PointwiseOp op;
    float a = 0, b = 0;
    int32_t position = -1;  ///< of the operand among the step's inputs; -1: none
    Shape shape;            ///< of the operand
    Format format;
    bool may_accumulate = false;  ///< an addition of a whole operand
  };
  std::vector<Entry> entries;
};

/// The spec that was written down. Throws Error (kInvalidModel) unless every instruction is known and has the
/// operands that it takes, among the step's inputs from `inputs` on, in float32.
EpilogueSpec epilogue_spec(const StepReader& r, size_t inputs, bool any_type = false);

/// Applies a spec to a row-major float32 result in memory. Belongs to one kernel.
class RowEpilogue {
 public:
  /// Of a step whose output 0 is the result; operands are row-major step inputs from `inputs` on.
  RowEpilogue(const StepReader& r, size_t inputs);
  void run(std::span<const void* const> inputs, float* result) noexcept;

 private:
  std::optional<kernels::PointwiseLoop> loop_;  // none: nothing is to be done
  std::vector<size_t> positions_;               // of the operands among the step's inputs
  std::vector<const void*> operands_;           // the result first
};

/// Appends an instruction that a plan names: throws Error (kInvalidModel) where it reads registers that
/// nothing has written, or of types that it does not take.
int append_checked(kernels::PointwiseProgram& program, kernels::PointwiseOp op,
                   const std::array<int, 3>& args, float a, float b);

/// A loop that a plan describes: throws Error (kInvalidModel) where operands or results do not fit their
/// registers, or the program takes more of these than there are.
kernels::PointwiseLoop checked_loop(const kernels::PointwiseProgram& program, const Shape& domain,
                                    std::vector<kernels::PointwiseOperand> operands,
                                    std::vector<DType> results);

}  // namespace assay::engine
