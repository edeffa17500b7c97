// Trilu: the upper or lower triangle of each matrix in the last two dimensions, zero elsewhere. k moves the
// border: the k-th diagonal right of the main one belongs to both triangles.
#include <algorithm>

#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_Trilu {
namespace {

void infer(InferContext& c) {
  const int rank = c.input_rank(0);
  c.check(rank < 0 || rank >= 2, "the input must have rank 2 or more, it has rank {}", rank);
  infer_same_as_input(c);
}

void eval(EvalContext& c) {
  const Shape& shape = c.shape(0);
  c.check(shape.size() >= 2, "the input must have rank 2 or more, it has shape {}", shape.str());
  c.check(!c.has_input(1) || c.input(1).numel() == 1, "k must have one element");
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const int64_t given = c.has_input(1) ? c.input(1).to_int64()[0] : 0;
  const int64_t k = std::clamp(given, -rows, columns);
  const bool upper = c.attr_int("upper") != 0;
  const Tensor in = unpacked(c.input(0));
  Tensor y = checked_allocation(in.dtype(), shape);
  visit_elements(in.dtype(), [&]<typename E>() {
    const E* from = elements<E>(in);
    E* to = mutable_elements<E>(y);
    const int64_t lines = columns == 0 ? 0 : in.numel() / columns;
    parallel_for(lines, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, columns)),
                 [&](int64_t first, int64_t last) {
                   for (int64_t i = first; i < last; ++i) {
                     // Columns [0, border) are left of the k-th diagonal; it is kept in both cases.
                     const int64_t diagonal = i % rows + k;
                     const int64_t border = std::clamp<int64_t>(upper ? diagonal : diagonal + 1, 0, columns);
                     const int64_t keep_from = upper ? border : 0, keep_to = upper ? columns : border;
                     std::fill_n(to + i * columns, keep_from, E{});
                     std::fill_n(to + i * columns + keep_to, columns - keep_to, E{});
                     std::copy(from + i * columns + keep_from, from + i * columns + keep_to,
                               to + i * columns + keep_from);
                   }
                 });
  });
  c.set_output(0, repacked(std::move(y), c.input(0).dtype()));
}

constexpr OpVersion kVersions[] = {
    {14, R"(
in  input: T
in  k: int64 ?
out output: T
attr upper: int = 1
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Trilu",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFilled,
            .uses = {{{.kind = InputUse::Kind::kAxis, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_Trilu
