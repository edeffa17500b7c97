// TopK: the k largest (or smallest) elements along an axis, in order, and their positions. Of equal elements
// the one with the lower index comes first; NaN counts as larger than every number.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "ops/tensor/axes.h"

namespace assay::op_onnx_TopK {
namespace {

void infer(InferContext& c) {
  const DType dtype = c.input_dtype(0);
  const Dims* in = c.input_dims(0);
  if (in == nullptr) {
    c.set_output(0, dtype);
    return c.set_output(1, DType::kInt64);
  }
  Dims out = *in;
  Dim& extent = out[static_cast<size_t>(normalize_axis(c.attr_int("axis"), static_cast<int>(out.size())))];
  Dim k;
  if (c.since() < 10) {
    c.check(c.attr_int("k") >= 0, "k is {}", c.attr_int("k"));
    k = Dim(c.attr_int("k"));
  } else if (const Dims* extents = c.input_extents(1)) {
    c.check(extents->size() == 1, "K must have one element, it has {}", extents->size());
    k = (*extents)[0];
  }
  c.check(!k.is_known() || !extent.is_known() || k.value() <= extent.value(),
          "k is {}, but the axis has extent {}", k.value(), extent.value());
  extent = k;
  c.set_output(0, dtype, out);
  c.set_output(1, DType::kInt64, std::move(out));
}

template <typename T>
bool is_larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

template <typename T>
void top_k(const Tensor& x, size_t axis, int64_t k, bool largest, Tensor& values, Tensor& indices) {
  const int64_t extent = x.dim(axis), inner = x.shape().numel(axis + 1, x.shape().size());
  const int64_t lines = extent == 0 ? 0 : x.numel() / extent;
  const T* in = x.data<T>();
  T* out = values.mutable_data<T>();
  int64_t* places = indices.mutable_data<int64_t>();
  parallel_for(lines, std::max<int64_t>(1, kElementGrain / 16 / std::max<int64_t>(1, extent)),
               [&](int64_t first, int64_t last) {
                 std::vector<int64_t> order(static_cast<size_t>(k));
                 for (int64_t line = first; line < last; ++line) {
                   const T* p = in + line / inner * extent * inner + line % inner;
                   const auto before = [&](int64_t a, int64_t b) {
                     const T u = p[a * inner], v = p[b * inner];
                     if (is_larger(u, v)) return largest;
                     return is_larger(v, u) ? !largest : a < b;
                   };
                   // The k best so far are a heap with the worst of them on top; most elements are no better.
                   std::iota(order.begin(), order.end(), int64_t{0});
                   std::make_heap(order.begin(), order.end(), before);
                   for (int64_t i = k; i < extent && k > 0; ++i) {
                     if (!before(i, order.front())) continue;
                     std::pop_heap(order.begin(), order.end(), before);
                     order.back() = i;
                     std::push_heap(order.begin(), order.end(), before);
                   }
                   std::sort_heap(order.begin(), order.end(), before);
                   const int64_t base = line / inner * k * inner + line % inner;
                   for (int64_t i = 0; i < k; ++i) {
                     places[base + i * inner] = order[static_cast<size_t>(i)];
                     out[base + i * inner] = p[order[static_cast<size_t>(i)] * inner];
                   }
                 }
               });
}

void eval(EvalContext& c) {
  Shape shape = c.shape(0);
  const auto axis = static_cast<size_t>(normalize_axis(c.attr_int("axis"), shape.rank()));
  c.check(c.since() < 10 || c.input(1).numel() == 1, "K must have one element");
  const int64_t k = c.since() < 10 ? c.attr_int("k") : c.input(1).to_int64()[0];
  c.check(k >= 0 && k <= shape[axis], "k is {}, but axis {} has extent {}", k, axis, shape[axis]);
  shape[axis] = k;
  const bool largest = c.since() < 11 || c.attr_int("largest") != 0;
  Tensor values = Tensor::allocate(c.input(0).dtype(), shape),
         indices = Tensor::allocate(DType::kInt64, shape);
  visit_exact(c.input(0).dtype(),
              [&]<typename T>() { top_k<T>(c.input(0), axis, k, largest, values, indices); });
  c.set_output(0, std::move(values));
  c.set_output(1, std::move(indices));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T
out Values: T
out Indices: I
attr axis: int = -1
attr k: int required
type T: @float
type I: int64)",
     infer, eval},
    {10, R"(
in  X: T
in  K: int64
out Values: T
out Indices: I
attr axis: int = -1
type T: @float
type I: int64)",
     infer, eval},
    {11, R"(
in  X: T
in  K: int64
out Values: T
out Indices: I
attr sorted: int = 1
attr largest: int = 1
attr axis: int = -1
type T: @numeric
type I: int64)",
     infer, eval},
    {24, R"(
in  X: T
in  K: int64
out Values: T
out Indices: I
attr sorted: int = 1
attr largest: int = 1
attr axis: int = -1
type T: @numeric_ir4
type I: int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "TopK",
    .versions = kVersions,
    .types = EvalTypes::kFloat32Too,
    .facts =
        {
            .moves = Moves::kSelected,
            .mixes_axis = true,
            .compares = {{{.reach = ComparisonFact::Reach::kAxis}}},
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1}}},
        },
};

}  // namespace assay::op_onnx_TopK
