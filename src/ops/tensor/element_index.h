// Where GatherElements, GatherND, ScatterElements and ScatterND find their elements.
#pragma once

#include <vector>

#include "ops/op_context.h"

namespace assay {

/// For each element of `indices`, in order: the linear position in a tensor of shape `data` whose coordinates
/// are those of the element itself, but along `axis` the index. Throws Error when the ranks differ, an index
/// is out of range, or the indices reach past `data` along another axis.
std::vector<int64_t> element_positions(const Shape& data, const Tensor& indices, size_t axis);

/// The slices that index tuples of GatherND and ScatterND name.
struct TuplePositions {
  std::vector<int64_t> positions;  ///< first element of each named slice
  size_t slice_rank_from = 0;      ///< the slices have the shape of data's dimensions from here on
  int64_t slice = 1;               ///< elements of a slice
};

/// The last dimension of `indices` holds tuples that index the dimensions of `data` after the first
/// `batch_dims`, which both share. Throws Error for tuples that are too long, out of range, or batches that
/// differ.
TuplePositions tuple_positions(const Shape& data, const Tensor& indices, size_t batch_dims);

/// How an update is combined with the existing element.
enum class ScatterReduction : uint8_t { kNone, kAdd, kMul, kMax, kMin };

/// The attribute `reduction` of the version in force; throws Error for a name the version does not know.
ScatterReduction scatter_reduction(const OpContext& c);

/// data[positions[i] ...] takes slice i of the updates, in order, so that without reduction the last one
/// wins.
void scatter_slices(Tensor& data, const std::vector<int64_t>& positions, int64_t slice, const Tensor& updates,
                    ScatterReduction reduction);

/// ScatterElements, which was first called Scatter.
void infer_scatter_elements(InferContext& c);
void eval_scatter_elements(EvalContext& c);
/// The positions of its updates.
std::vector<int64_t> scatter_positions(const EvalContext& c);

/// The most updates of one element: the length of the longest chain of additions or products.
int64_t most_updates(std::vector<int64_t> positions);

}  // namespace assay
