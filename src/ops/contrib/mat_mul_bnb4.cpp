// MatMulBnb4: A * W^T, or A * W for transB = 0, with weights W [N, K] of 4 bits: every element is one of 16
// numbers (quant_type 0: FP4, 1: NF4 of QLoRA) times the largest magnitude of its block. W is flattened; a
// byte holds two elements, the first one in the high bits.
#include <array>
#include <bit>
#include <cmath>

#include "ops/eval_util.h"
#include "ops/numerics/steps.h"
#include "ops/op_list.h"

namespace assay::op_ms_MatMulBnb4 {
namespace {

enum Input { kA, kB, kAbsMax };

/// FP4 with one sign bit, in order of its bits, over its largest, 12.
constexpr std::array<double, 8> kFp4 = {0, 0.0625 / 12, 8.0 / 12, 1, 4.0 / 12, 6.0 / 12, 2.0 / 12, 3.0 / 12};
/// NormalFloat (T. Dettmers et al., QLoRA, appendix E): quantiles of the normal distribution.
constexpr std::array<double, 16> kNf4 = {-1.0,
                                         -0.6961928009986877,
                                         -0.5250730514526367,
                                         -0.39491748809814453,
                                         -0.28444138169288635,
                                         -0.18477343022823334,
                                         -0.09105003625154495,
                                         0.0,
                                         0.07958029955625534,
                                         0.16093020141124725,
                                         0.24611230194568634,
                                         0.33791524171829224,
                                         0.44070982933044434,
                                         0.5626170039176941,
                                         0.7229568362236023,
                                         1.0};

struct Layout {
  int64_t n, k, block;
  bool normal_float, transposed;

  explicit Layout(const OpContext& c)
      : n(c.attr_int("N")), k(c.attr_int("K")), block(c.attr_int("block_size")) {
    const int64_t type = c.attr_int("quant_type");
    c.check(type == 0 || type == 1, "attribute 'quant_type' is {}; it must be 0 or 1", type);
    c.check(n > 0 && k > 0 && n <= INT64_MAX / k, "attributes N = {} and K = {} are out of range", n, k);
    c.check(block >= 16 && std::has_single_bit(static_cast<uint64_t>(block)),
            "attribute 'block_size' is {}; it must be a power of 2 of at least 16", block);
    normal_float = type == 1;
    transposed = c.attr_int("transB") != 0;
  }
  int64_t inner() const { return transposed ? k : n; }
  double value(int bits) const {
    if (normal_float) return kNf4[static_cast<size_t>(bits)];
    const double magnitude = kFp4[static_cast<size_t>(bits & 7)];
    return (bits & 8) != 0 ? -magnitude : magnitude;
  }
};

void infer(InferContext& c) {
  const Layout layout(c);
  const Dims* a = c.input_dims(kA);
  if (a == nullptr) return c.set_output(0, c.input_dtype(kA));
  c.check(!a->empty(), "A needs at least one dimension");
  c.check(!a->back().is_known() || a->back().value() == layout.inner(),
          "A has {} columns where {} are needed", a->back().str(), layout.inner());
  Dims out = *a;
  out.back() = Dim(layout.transposed ? layout.n : layout.k);
  c.set_output(0, c.input_dtype(kA), std::move(out));
}

/// The right operand of the product: W transposed, or W.
Tensor weights(const EvalContext& c, const Layout& layout) {
  const int64_t count = layout.n * layout.k;
  c.check(c.input(kB).numel() == (count + 1) / 2, "B has {} bytes for {} weights", c.input(kB).numel(),
          count);
  c.check(c.input(kAbsMax).numel() == (count + layout.block - 1) / layout.block,
          "absmax has {} elements for {} weights in blocks of {}", c.input(kAbsMax).numel(), count,
          layout.block);
  Tensor w = Tensor::allocate(DType::kFloat64,
                              layout.transposed ? Shape{layout.k, layout.n} : Shape{layout.n, layout.k});
  const uint8_t* bytes = c.input(kB).data<uint8_t>();
  const double* largest = c.input(kAbsMax).data<double>();
  double* to = w.mutable_data<double>();
  for (int64_t i = 0; i < count; ++i) {
    const int bits = i % 2 == 0 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15;
    const int64_t row = i / layout.k, column = i % layout.k;
    to[layout.transposed ? column * layout.n + row : i] = layout.value(bits) * largest[i / layout.block];
  }
  return w;
}

void compute(EvalContext& c, Steps& steps, std::vector<Traced>& outputs) {
  const Layout layout(c);
  const Shape& in = c.shape(kA);
  c.check(!in.empty() && in.back() == layout.inner(), "A has shape {} where {} columns are needed", in.str(),
          layout.inner());
  // The table is rounded, and so is the product with it.
  const Tensor w = weights(c, layout);
  const Traced b = steps.u() > 0
                       ? steps.inexact(w, map_elements<double>(w, [](double x) { return 2 * std::fabs(x); }))
                       : steps.given(w);
  outputs[0] = steps.product(steps.given(c.input(kA)), b);
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  A: T1
in  B: T2
in  absmax: T1
out Y: T1
attr transB: int = 1
attr training_mode: int = 0
attr block_size: int required
attr quant_type: int required
attr N: int required
attr K: int required
type T1: float float16 bfloat16
type T2: uint8)",
     infer, FusedOp<compute>::eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "MatMulBnb4",
    .versions = kVersions,
    .numerics = FusedOp<compute>::kNumerics,
};

}  // namespace assay::op_ms_MatMulBnb4
