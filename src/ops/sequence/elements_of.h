// Steps that the operators on sequences and optionals share.
#pragma once

#include "ops/op_context.h"

namespace assay {

/// Tensors in a sequence at most: the most that a split by a hostile length may make.
inline constexpr int64_t kLongestSequence = int64_t{1} << 24;

/// The elements of eval's input i. Throws Error unless it is a sequence.
std::span<const Tensor> sequence_elements(const EvalContext& c, size_t i);

/// The element type of input i; unknown when that is not known. Throws Error when it is known to be
/// something else than a sequence.
Type sequence_element_type(const InferContext& c, size_t i);

/// Input i of eval as an index, one number in [-n, limit], negative ones counted from the end of n elements;
/// or `otherwise` when the input is left out.
int64_t sequence_position(const EvalContext& c, size_t i, int64_t n, int64_t limit, int64_t otherwise);

/// Throws Error when a sequence would become longer than kLongestSequence or hold one of these that it may
/// not.
void check_sequence(int64_t length, std::span<const Tensor> elements);
/// A sequence, which may not grow beyond kLongestSequence.
Tensor make_sequence(std::vector<Tensor> elements);

}  // namespace assay
