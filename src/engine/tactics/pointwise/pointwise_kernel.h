// Steps of the tactic pointwise: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/dnnl/dnnl_epilogue_kernel.h"
#include "kernels/pointwise/pointwise.h"

namespace assay::engine::tactic_pointwise {

using kernels::PointwiseOp;
using kernels::PointwiseProgram;

/// A program of the vector interpreter, and the strides of its operands.
struct StepFields {
  size_t operands = 0, axes = 0;
  std::vector<std::string> names;  ///< of the instructions
  std::vector<int64_t> arguments;  ///< three registers each; -1: none
  std::vector<double> numbers;     ///< two each
  std::array<int64_t, 1> result = {};
  std::vector<int64_t> registers;  ///< types of those that hold the operands: places in kRegisterTypes
  std::vector<int64_t> domain;     ///< in the order of memory
  std::vector<int64_t> strides;    ///< of each operand along the domain's axes

  void fields(FieldVisitor& visit) {
    visit("program", names);
    StepReader::check(names.size() <= kMaxInstructions, "it has {} instructions", names.size());
    visit("arguments", arguments, 3 * names.size(), {-1, kMaxInstructions});
    visit("numbers", numbers, 2 * names.size());
    visit("results", result, {0, kMaxInstructions});
    visit("operand_registers", registers, operands, {0, std::ssize(kernels::kRegisterTypes) - 1});
    visit("domain", domain);
    visit("operand_strides", strides, operands * axes);
  }
};

/// Axis 1 moved to the end.
template <typename T>
T channels_moved_last(T axes) {
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return axes;
}

/// The domain in memory order: blocked channels are an axis pair of their own.
inline Shape memory_domain(const Shape& domain, Layout layout) {
  if (layout.is_channels_last()) return Shape(channels_moved_last(domain.dims()));
  if (!layout.is_blocked()) return domain;
  Shape d = domain;
  d[1] = (domain[1] + layout.block - 1) / layout.block;
  d.push_back(layout.block);
  return d;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_pointwise
