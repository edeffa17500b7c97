// Reductions over axes: shared by every Reduce operator. An operator states four things: a function of each
// element (pre), how two are combined, the identity of combining, and a function of the result (post).
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "ops/eval_util.h"

namespace assay {

struct Element;

/// How a reduction walks its input. Neighbouring dimensions that are both kept or both reduced are merged,
/// extents of 1 dropped; strides count elements of the input.
struct Reduction {
  Shape output;       ///< with or without the reduced dimensions, as keepdims says
  int64_t count = 1;  ///< elements that each output element is made of; 0 for an empty set
  std::vector<int64_t> kept, kept_strides;
  std::vector<int64_t> reduced, reduced_strides;
  bool inner_reduced = true;  ///< the innermost merged dimension, whose stride is 1, is reduced
};

/// Which dimensions a Reduce operator reduces, through its axes (attribute or input 1) and
/// noop_with_empty_axes. Throws Error for an axis out of range or named twice.
std::vector<bool> reduced_flags(const EvalContext& c);
/// The reduction over those, with keepdims.
Reduction plan_reduction(const EvalContext& c);
/// The reduction of any tensor over the dimensions that are flagged.
Reduction plan_reduction(const Shape& input, const std::vector<bool>& is_reduced, bool keepdims);

/// Output 0 has input 0's element type and its reduced shape, as far as known.
void infer_reduce(InferContext& c);
/// The shape that remains of `in`.
Dims reduced_dims(const Dims& in, const std::vector<bool>& is_reduced, bool keepdims);
/// After infer_reduce: output 0 is f over the elements of a 1-D integer input that is reduced.
void propagate_reduce(InferContext& c, Element identity, Element (*f)(const Element&, const Element&));

/// Numerics::terms of a reduction: the elements that each output element is made of.
int64_t reduced_count(EvalContext& c);

/// Columns that are reduced together when the innermost dimension is kept.
inline constexpr int64_t kReduceColumns = 512;
/// Partial results of one row, so that the loop is vectorized and its rounding errors stay apart.
inline constexpr int kReduceLanes = 8;

template <typename Acc, typename In, typename Pre, typename Combine>
Acc reduce_row(const In* in, int64_t n, Acc identity, Pre pre, Combine combine) {
  Acc lanes[kReduceLanes];
  std::fill_n(lanes, kReduceLanes, identity);
  int64_t i = 0;
  for (; i + kReduceLanes <= n; i += kReduceLanes) {
#pragma omp simd
    for (int l = 0; l < kReduceLanes; ++l) lanes[l] = combine(lanes[l], pre(in[i + l]));
  }
  Acc total = identity;
  for (; i < n; ++i) total = combine(total, pre(in[i]));
  for (const Acc& lane : lanes) total = combine(total, lane);
  return total;
}

/// One output element after the other; the innermost dimension is reduced.
template <typename Acc, typename In, typename Out, typename Pre, typename Combine, typename Post>
void reduce_rows(const In* in, const Reduction& r, Out* out, Acc identity, Pre pre, Combine combine,
                 Post post) {
  const size_t outer = r.reduced.size() - 1;
  const int64_t row = r.reduced.back(), rows = r.count / row;
  parallel_for(
      r.output.numel(), std::max<int64_t>(1, kElementGrain / r.count), [&](int64_t first, int64_t last) {
        OffsetCursor kept(r.kept, r.kept_strides);
        OffsetCursor reduced(std::span(r.reduced.data(), outer), std::span(r.reduced_strides.data(), outer));
        kept.seek(first);
        for (int64_t o = first; o < last; ++o, kept.next()) {
          Acc total = identity;
          for (int64_t j = 0; j < rows; ++j, reduced.next())
            total = combine(
                total, reduce_row<Acc>(in + kept.offset() + reduced.offset(), row, identity, pre, combine));
          out[o] = post(total);
        }
      });
}

/// Rows of adjacent output elements; the innermost dimension is kept.
template <typename Acc, typename In, typename Out, typename Pre, typename Combine, typename Post>
void reduce_columns(const In* in, const Reduction& r, Out* out, Acc identity, Pre pre, Combine combine,
                    Post post) {
  const size_t outer = r.kept.size() - 1;
  const int64_t row = r.kept.back(), blocks = (row + kReduceColumns - 1) / kReduceColumns;
  const int64_t tasks = r.output.numel() / row * blocks, width = std::min(row, kReduceColumns);
  parallel_for(
      tasks, std::max<int64_t>(1, kElementGrain / (width * r.count)), [&](int64_t first, int64_t last) {
        const auto storage = std::make_unique<Acc[]>(static_cast<size_t>(width));
        Acc* totals = storage.get();
        OffsetCursor kept(std::span(r.kept.data(), outer), std::span(r.kept_strides.data(), outer));
        OffsetCursor reduced(r.reduced, r.reduced_strides);
        for (int64_t t = first; t < last; ++t) {
          const int64_t column = t % blocks * kReduceColumns, n = std::min(kReduceColumns, row - column);
          kept.seek(t / blocks);
          std::fill_n(totals, n, identity);
          for (int64_t j = 0; j < r.count; ++j, reduced.next()) {
            const In* from = in + kept.offset() + reduced.offset() + column;
#pragma omp simd
            for (int64_t i = 0; i < n; ++i) totals[i] = combine(totals[i], pre(from[i]));
          }
          Out* to = out + t / blocks * row + column;
          for (int64_t i = 0; i < n; ++i) to[i] = post(totals[i]);
        }
      });
}

/// post(combine over pre(x)) for every set of elements x that the reduction combines; post(identity)
/// for an empty set. `combine` must be associative and commutative up to rounding; its type is that of
/// `identity`.
template <typename In, typename Acc, typename Pre, typename Combine, typename Post>
Tensor reduce(const Tensor& x, const Reduction& r, Acc identity, Pre pre, Combine combine, Post post) {
  using Out = decltype(post(identity));
  Tensor y = Tensor::allocate(dtype_of<Out>(), r.output);
  Out* out = y.mutable_data<Out>();
  if (r.count == 0)
    std::fill_n(out, y.numel(), post(identity));
  else if (y.numel() != 0 && r.inner_reduced)
    reduce_rows(x.data<In>(), r, out, identity, pre, combine, post);
  else if (y.numel() != 0)
    reduce_columns(x.data<In>(), r, out, identity, pre, combine, post);
  return y;
}

/// The element types that sums and products take.
template <typename F>
decltype(auto) visit_summable(DType dtype, F&& f) {
  return visit_dtype<double, int64_t, int32_t, uint64_t, uint32_t>(dtype, f);
}

}  // namespace assay
