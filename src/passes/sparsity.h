// 2:4 structured sparsity: of every four neighbours along the axis that a product sums over, two are zero.
#pragma once

#include <functional>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// A constant that Conv, MatMul or Gemm use as a factor, and the axis that they sum over.
struct SparsityTarget {
  Value* weight;
  size_t axis;
};

/// The weights of the main graph for which the pattern can be asked: initializers that reach a Conv (its
/// weights) or a MatMul or Gemm (either factor) directly or through QuantizeLinear, DequantizeLinear, Cast
/// and Transpose, of float32, float16 or bfloat16, with an extent along the axis that four divides. Batches
/// of matrices are left out. Each once, in the order in which they are met; the last use decides the axis.
///
/// Logs what it leaves out as Polygraphy does: a warning for an unknown producer, for a type that cannot be
/// pruned, and for what `is_skipped` holds for.
std::vector<SparsityTarget> find_sparsity_targets(const Graph& graph,
                                                  const std::function<bool(const Value&)>& is_skipped = {});

/// Whether at least two of every four neighbours along the axis are zero. The tensor is of one of those types
/// and its extent along the axis a multiple of four. Stops reading at the first group that breaks the
/// pattern.
bool has_2_4_sparsity(const UnalignedTensor& tensor, size_t axis);

/// The targets of the graph that have the pattern. Logs each as sparse or not, in Polygraphy's words, and
/// gives the pages of mapped weights back as soon as they were looked at.
std::vector<const Value*> find_sparse_weights(const Graph& graph);

}  // namespace assay
