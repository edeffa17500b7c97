// NonZero: the coordinates of the elements that are not zero (strings: not empty), one column for each, in
// row-major order.
#include <algorithm>
#include <bit>
#include <cstring>

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
std::vector<int64_t> non_zero_positions(const Tensor& x) {
  static_assert(std::endian::native == std::endian::little);
  const E* p = elements<E>(x);
  std::vector<int64_t> found;
  if constexpr (std::is_same_v<E, std::string>) {
    for (int64_t i = 0; i < x.numel(); ++i)
      if (!p[i].empty()) found.push_back(i);
  } else {
    const E mask = sign_bits<sizeof(E)>(x.dtype());
    for (int64_t i = 0; i < x.numel(); ++i) {
      std::byte any{};
      for (size_t b = 0; b < sizeof(E); ++b) any |= p[i].bytes[b] & ~mask.bytes[b];
      if (any != std::byte{}) found.push_back(i);
    }
  }
  return found;
}

void eval(EvalContext& c) {
  std::vector<int64_t> found;
  visit_elements(c.input(0).dtype(), [&]<typename E>() { found = non_zero_positions<E>(c.input(0)); });
  const Shape& in = c.shape(0);
  const auto count = static_cast<int64_t>(found.size());
  Tensor y = Tensor::allocate(DType::kInt64, {in.rank(), count});
  int64_t* out = y.mutable_data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = found[static_cast<size_t>(i)];
    for (size_t d = in.size(); d-- > 0; rest /= in[d])
      out[static_cast<int64_t>(d) * count + i] = rest % in[d];
  }
  c.set_output(0, std::move(y));
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
