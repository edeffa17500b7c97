// Epilogues that kernels run by row_epilogue() while their results are in the caches.
#pragma once

#include <optional>

#include "engine/runtime/kernel.h"
#include "engine/tactics/epilogue_kernel.h"
#include "kernels/panel/row_epilogue.h"

namespace assay::engine {

/// Of results in rows of channels: [+ operand] function [* channel's] [+ channel's] [+ operand], or scalars
/// in place of the channels'. Each part may be missing, and there is at most one whole operand.
struct CommonEnd {
  kernels::EpilogueParameters finish;
  int32_t addend = -1, factors = -1, shifts = -1;  ///< inputs of the step; -1: none

  /// The operands of a run, from an element of the result on, whose rows are `stride` apart, and from a
  /// channel on.
  kernels::EpilogueOperands operands(const KernelArgs& args, int64_t element, int64_t stride,
                                     int64_t channel) const {
    const auto at = [&](int32_t input, int64_t first) {
      return input < 0 ? nullptr : static_cast<const float*>(args.inputs[static_cast<size_t>(input)]) + first;
    };
    return {at(addend, element), stride, at(factors, channel), at(shifts, channel)};
  }
};

/// An instruction as the function of such an end; nothing for one that is none.
std::optional<kernels::EpilogueParameters> epilogue_function(kernels::PointwiseOp op, float a, float b);

/// The epilogue in this form, of `rows` x `channels` results; nothing if it has another. Independent of the
/// layout of operands.
std::optional<CommonEnd> common_epilogue(const EpilogueSpec& spec, int64_t rows, int64_t channels);

}  // namespace assay::engine
