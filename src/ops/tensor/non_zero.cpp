// NonZero: the coordinates of the elements that are not zero (strings: not empty), one column for each, in
// row-major order.
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "ops/eval_util.h"
#include "ops/op_context.h"
#include "ops/op_list.h"
#include "ops/tensor/elements.h"

namespace assay::op_onnx_NonZero {
namespace {

void infer(InferContext& c) {
  const int rank = c.input_rank(0);
  c.set_output(0, DType::kInt64, {rank < 0 ? Dim() : Dim(rank), Dim()});
}

/// The sign bits of the floating-point numbers in one element: a negative zero is zero. Little-endian
/// storage.
template <size_t N>
Bits<N> sign_bits(DType dtype) {
  Bits<N> mask{};
  if (is_float(dtype) || is_complex(dtype)) mask.bytes[N - 1] = std::byte{0x80};
  if constexpr (N > 1)
    if (is_complex(dtype)) mask.bytes[N / 2 - 1] = std::byte{0x80};
  return mask;
}

template <typename E>
bool is_set(const E& element, const E& mask) {
  std::byte any{};
  for (size_t b = 0; b < sizeof(E); ++b) any |= element.bytes[b] & ~mask.bytes[b];
  return any != std::byte{};
}

/// The positions of the elements that are not zero, in order.
template <typename E>
Tensor positions(const Tensor& x) {
  static_assert(std::endian::native == std::endian::little);
  const Shape& in = x.shape();
  const int64_t width = in.empty() ? 1 : in.back(), rows = width == 0 ? 0 : x.numel() / width;
  const E* const p = elements<E>(x);
  const auto for_each_set = [&](int64_t row, auto found) {
    if constexpr (std::is_same_v<E, std::string>) {
      for (int64_t i = 0; i < width; ++i)
        if (!p[row * width + i].empty()) found(i);
    } else {
      const E mask = sign_bits<sizeof(E)>(x.dtype());
      for (int64_t i = 0; i < width; ++i)
        if (is_set(p[row * width + i], mask)) found(i);
    }
  };
  // Where the positions of each row begin among all.
  std::vector<int64_t> begin(static_cast<size_t>(rows) + 1);
  const int64_t grain = std::max<int64_t>(1, kElementGrain / std::max<int64_t>(width, 1));
  parallel_for(rows, grain, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      for_each_set(row, [&, &count = begin[static_cast<size_t>(row) + 1]](int64_t) { ++count; });
  });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  const int64_t count = begin.back();
  Tensor y = Tensor::allocate(DType::kInt64, {in.rank(), count});
  int64_t* const out = y.mutable_data<int64_t>();
  parallel_for(in.empty() ? 0 : rows, grain, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t from = begin[static_cast<size_t>(row)], to = begin[static_cast<size_t>(row) + 1];
      int64_t rest = row;
      for (size_t d = in.size() - 1; d-- > 0; rest /= in[d])
        std::fill(out + static_cast<int64_t>(d) * count + from, out + static_cast<int64_t>(d) * count + to,
                  rest % in[d]);
      int64_t* place = out + (in.rank() - 1) * count + from;
      for_each_set(row, [&](int64_t i) { *place++ = i; });
    }
  });
  return y;
}

void eval(EvalContext& c) {
  visit_elements(c.input(0).dtype(), [&]<typename E>() { c.set_output(0, positions<E>(c.input(0))); });
}

constexpr OpVersion kVersions[] = {
    {9, R"(
in  X: T
out Y: int64
type T: @all)",
     infer, eval},
    {13, R"(
in  X: T
out Y: int64
type T: @all_ir4)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "NonZero",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_onnx_NonZero
