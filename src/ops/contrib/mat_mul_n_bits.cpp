// MatMulNBits: Y = A * W^T + bias with weights W [N, K] of a few bits, quantized in blocks along K: W = (q -
// zero point) * scale. B holds the quantized values as [N, blocks, bytes of a block]. Zero points are packed
// like them, row by row, or floats; without them they are half of the range. With g_idx, element k of
// every row belongs to block g_idx[k]. An accuracy level of 4 allows A to be rounded to 8 bits, block by
// block.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/contrib/packed_quantized.h"
#include "ops/contrib/quantized_product.h"
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/work.h"

namespace assay::op_ms_MatMulNBits {
namespace {

enum Input { kA, kB, kScales, kZeros, kGroups, kBias };
constexpr int64_t kInt8Activations = 4;

/// The attributes, checked.
struct Layout {
  int64_t n, k, block, blocks;
  int bits;

  explicit Layout(const OpContext& c)
      : n(c.attr_int("N")), k(c.attr_int("K")), block(c.attr_int("block_size")) {
    const int64_t wanted = c.attr_int("bits");
    c.check(wanted == 2 || wanted == 4 || wanted == 8, "attribute 'bits' is {}; 2, 4 and 8 can be evaluated",
            wanted);
    bits = static_cast<int>(wanted);
    c.check(n > 0 && k > 0, "attributes N = {} and K = {} must be positive", n, k);
    c.check(block >= 16 && std::has_single_bit(static_cast<uint64_t>(block)),
            "attribute 'block_size' is {}; it must be a power of 2 of at least 16", block);
    c.check(c.attr_int("weight_prepacked") == 0, "weights that are packed for a device cannot be read");
    blocks = k / block + (k % block != 0 ? 1 : 0);
    int64_t elements = 0;
    c.check(block <= INT64_MAX / 8 && k <= INT64_MAX / 2 &&
                !__builtin_mul_overflow(n, blocks * block, &elements) && elements <= INT64_MAX / 8,
            "attributes N = {}, K = {} and block_size = {} are out of range", n, k, block);
  }
  int64_t block_bytes() const { return packed_bytes(block, bits); }
};

void infer(InferContext& c) {
  const Layout layout(c);
  const Dims* a = c.input_dims(kA);
  if (a == nullptr) return c.set_output(0, c.input_dtype(kA));
  c.check(!a->empty(), "A needs at least one dimension");
  c.check(!a->back().is_known() || a->back().value() == layout.k, "A has {} columns, attribute K is {}",
          a->back().str(), layout.k);
  Dims out = *a;
  out.back() = Dim(layout.n);
  c.set_output(0, c.input_dtype(kA), std::move(out));
}

void check_count(const EvalContext& c, size_t i, int64_t count) {
  c.check(c.input(i).numel() == count, "input {} has shape {} where {} elements are needed", i,
          c.shape(i).str(), count);
}

/// The zero point of every block, row by row.
std::vector<double> zero_points(const EvalContext& c, const Layout& layout) {
  const int64_t count = layout.n * layout.blocks;
  std::vector<double> out(static_cast<size_t>(count), static_cast<double>(1 << (layout.bits - 1)));
  if (!c.has_input(kZeros)) return out;
  const Tensor& zeros = c.input(kZeros);
  if (zeros.dtype() != DType::kUInt8) {
    check_count(c, kZeros, count);
    std::copy_n(zeros.data<double>(), count, out.begin());
    return out;
  }
  const int64_t row = packed_bytes(layout.blocks, layout.bits);
  check_count(c, kZeros, layout.n * row);
  for (int64_t i = 0; i < count; ++i)
    out[static_cast<size_t>(i)] =
        packed_level(zeros.data<uint8_t>() + i / layout.blocks * row, i % layout.blocks, layout.bits);
  return out;
}

/// For every k its block.
std::vector<int64_t> block_of(const EvalContext& c, const Layout& layout) {
  std::vector<int64_t> out(static_cast<size_t>(layout.k));
  for (int64_t k = 0; k < layout.k; ++k) out[static_cast<size_t>(k)] = k / layout.block;
  if (!c.has_input(kGroups)) return out;
  c.check(c.input(kGroups).numel() >= layout.k, "g_idx has {} elements for {} columns",
          c.input(kGroups).numel(), layout.k);
  const std::vector<int64_t> groups = c.input(kGroups).to_int64();
  for (size_t k = 0; k < out.size(); ++k) {
    c.check(groups[k] >= 0 && groups[k] < layout.blocks, "g_idx has {}, which is not a block of {}",
            groups[k], layout.blocks);
    out[k] = groups[k];
  }
  return out;
}

/// W transposed: [K, N].
Tensor weights(const EvalContext& c, const Layout& layout) {
  check_count(c, kB, layout.n * layout.blocks * layout.block_bytes());
  check_count(c, kScales, layout.n * layout.blocks);
  const std::vector<double> zeros = zero_points(c, layout);
  const std::vector<int64_t> block = block_of(c, layout);
  Tensor w = Tensor::allocate(DType::kFloat64, {layout.k, layout.n});
  const uint8_t* levels = c.input(kB).data<uint8_t>();
  const double* scales = c.input(kScales).data<double>();
  double* to = w.mutable_data<double>();
  parallel_for(layout.n, std::max<int64_t>(1, kElementGrain / layout.k), [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n)
      for (int64_t k = 0; k < layout.k; ++k) {
        const int64_t at = n * layout.blocks + block[static_cast<size_t>(k)];
        const int level = packed_level(levels + n * layout.blocks * layout.block_bytes(), k, layout.bits);
        to[k * layout.n + n] = (level - zeros[static_cast<size_t>(at)]) * scales[at];
      }
  });
  return w;
}

/// How much A may differ from the input, in units of u: for 8-bit activations half a step of an element's
/// block, whose largest magnitude is quantized to 127.
Tensor activation_error(const EvalContext& c, const Layout& layout, double u) {
  const Tensor& a = c.input(kA);
  Tensor out = Tensor::zeros(DType::kFloat64, a.shape());
  double* to = out.mutable_data<double>();
  const double* from = a.data<double>();
  for (int64_t row = 0; row < a.numel(); row += layout.k)
    for (int64_t first = 0; first < layout.k; first += layout.block) {
      const int64_t last = std::min(first + layout.block, layout.k);
      double largest = 0;
      for (int64_t k = first; k < last; ++k) largest = std::max(largest, std::fabs(from[row + k]));
      std::fill(to + row + first, to + row + last, largest / 127 / 2 / u);
    }
  return out;
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const Layout layout(c);
  const Shape& in = c.shape(kA);
  c.check(!in.empty() && in.back() == layout.k, "A has shape {}, attribute K is {}", in.str(), layout.k);
  Traced a = steps.given(c.input(kA));
  if (c.attr_int("accuracy_level") == kInt8Activations && steps.u() > 0)
    a = steps.inexact(a.value, activation_error(c, layout, steps.u()));
  // A difference and a product round.
  const Tensor w = weights(c, layout);
  const Traced b = steps.u() > 0
                       ? steps.inexact(w, map_elements<double>(w, [](double x) { return 2 * std::fabs(x); }))
                       : steps.given(w);
  outputs[0] = add_bias(c, steps, steps.product(a, b), kBias);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T1
in  B: T2
in  scales: T1
in  zero_points: T3 ?
in  g_idx: T4 ?
in  bias: T1 ?
out Y: T1
attr weight_prepacked: int = 0
attr accuracy_level: int = 0
attr block_size: int required
attr bits: int = 4
attr N: int required
attr K: int required
type T1: float float16 bfloat16
type T2: uint8
type T3: uint8 float16 float bfloat16
type T4: int32)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "MatMulNBits",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
    .facts =
        {
            .extra_steps = row_product_steps,
        },
};

}  // namespace assay::op_ms_MatMulNBits
