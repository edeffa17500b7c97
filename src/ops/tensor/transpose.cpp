// Transpose: the dimensions in another order; output dimension i is input dimension perm[i]. Without perm
// they are reversed.
#include <numeric>

#include "ops/op_list.h"
#include "ops/tensor/axes.h"
#include "ops/tensor/strided_copy.h"

namespace assay::op_onnx_Transpose {
namespace {

std::vector<size_t> permutation(const OpContext& c, size_t rank) {
  if (!c.has_attr("perm")) {
    std::vector<size_t> reversed(rank);
    std::iota(reversed.rbegin(), reversed.rend(), size_t{0});
    return reversed;
  }
  const std::vector<int64_t> perm = c.attr_ints("perm");
  c.check(perm.size() == rank, "perm has {} entries for an input of rank {}", perm.size(), rank);
  // Not counted from the end: ONNX has no such perm.
  for (const int64_t axis : perm) c.check(axis >= 0, "perm names the axis {}", axis);
  return normalize_axes(perm, rank);
}

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) {
    // perm tells the rank.
    if (!c.has_attr("perm")) return c.set_output(0, c.input_dtype(0));
    return c.set_output(0, c.input_dtype(0), Dims(c.attr_ints("perm").size()));
  }
  Dims out;
  for (const size_t axis : permutation(c, in->size())) out.push_back((*in)[axis]);
  c.set_output(0, c.input_dtype(0), std::move(out));
}

void eval(EvalContext& c) { c.set_output(0, permuted(c.input(0), permutation(c, c.shape(0).size()))); }

constexpr OpVersion kVersions[] = {
    {1, R"(
in  data: T
out transposed: T
attr perm: ints
type T: @all)",
     infer, eval},
    {13, R"(
in  data: T
out transposed: T
attr perm: ints
type T: @all_ir4)",
     infer, eval},
    {21, R"(
in  data: T
out transposed: T
attr perm: ints
type T: @all_ir10)",
     infer, eval},
    {23, R"(
in  data: T
out transposed: T
attr perm: ints
type T: @all_ir11)",
     infer, eval},
    {24, R"(
in  data: T
out transposed: T
attr perm: ints
type T: @all_ir12)",
     infer, eval},
    {25, R"(
in  data: T
out transposed: T
attr perm: ints
type T: @all_ir13)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "Transpose",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
    .facts =
        {
            .moves = Moves::kFirst,
            .is_total = true,
        },
};

}  // namespace assay::op_onnx_Transpose
