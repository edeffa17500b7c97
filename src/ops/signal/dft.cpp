// DFT: the discrete Fourier transform along an axis, forward or inverse, of real ([..., 1]) or complex ([...,
// 2]) numbers; one-sided from real numbers to half a spectrum, or back.
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/signal/fourier.h"
#include "ops/signal/scalars.h"
#include "ops/sums/sums.h"
#include "ops/tensor/elements.h"
#include "ops/work.h"

namespace assay::op_onnx_DFT {
namespace {

using Complex = std::complex<double>;

void check_rank(const OpContext& c, size_t rank) {
  c.check(rank >= 2, "the input has {} dimensions; it needs a signal axis and the last one for complex parts",
          rank);
}

size_t normalize_signal_axis(const OpContext& c, int64_t axis, int rank) {
  const int at = normalize_axis(axis, rank);
  c.check(at != rank - 1, "axis {} is the one that holds the complex parts", axis);
  return static_cast<size_t>(at);
}

struct Flags {
  bool inverse, onesided;
};
Flags read_flags(const OpContext& c) { return {c.attr_int("inverse") != 0, c.attr_int("onesided") != 0}; }

void check_parts(const OpContext& c, Flags f, int64_t parts) {
  c.check(parts == 1 || parts == 2,
          "the last dimension has {} elements where 1 (real) or 2 (complex) are needed", parts);
  c.check(!f.onesided || f.inverse || parts == 1, "a one-sided transform needs real numbers");
  c.check(!f.onesided || !f.inverse || parts == 2, "a one-sided inverse transform needs complex numbers");
}

void infer(InferContext& c) {
  const Dims* in = c.input_dims(0);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0));
  check_rank(c, in->size());
  const Flags f = read_flags(c);
  Dims out = *in;
  if (in->back().is_known()) check_parts(c, f, in->back().value());
  out.back() = Dim(f.inverse && f.onesided ? 1 : 2);
  int64_t axis = -2;
  bool known = true;
  if (c.since() < 20) {
    axis = c.attr_int("axis");
  } else if (c.has_input(2)) {
    const Tensor* value = c.input_value(2);
    known = value != nullptr && value->numel() == 1;
    if (known) axis = value->to_int64()[0];
  }
  if (!known) {
    // Whichever axis it is, a transform of the signal's own length keeps it.
    if (c.has_input(1) || f.onesided)
      for (size_t d = 0; d + 1 < out.size(); ++d) out[d] = Dim();
    return c.set_output(0, c.input_dtype(0), std::move(out));
  }
  const size_t at = normalize_signal_axis(c, axis, static_cast<int>(in->size()));
  Dim length = (*in)[at];
  if (c.has_input(1))
    length = scalar_extent(c, 1);
  else if (f.inverse && f.onesided)
    length = dim_mul(Dim(2), dim_sub(length, Dim(1)));
  out[at] = f.onesided && !f.inverse ? dim_add(dim_floor_div(length, Dim(2)), Dim(1)) : length;
  c.set_output(0, c.input_dtype(0), std::move(out));
}

/// Lines along the axis: `lines` of them, of `given` elements that are `inner` apart.
struct Plan {
  Flags flags;
  int64_t length, given, inner, lines, parts;
  int64_t bins, out_parts;  ///< of the output
  Shape output;
};

Plan make_plan(const EvalContext& c) {
  const Shape& in = c.shape(0);
  check_rank(c, in.size());
  Plan p{.flags = read_flags(c)};
  const int64_t wanted = c.since() < 20   ? c.attr_int("axis")
                         : c.has_input(2) ? integer_scalar(c, 2, "axis")
                                          : -2;
  const size_t axis = normalize_signal_axis(c, wanted, in.rank());
  p.parts = in.back();
  check_parts(c, p.flags, p.parts);
  p.given = in[axis];
  const bool to_real = p.flags.inverse && p.flags.onesided;
  p.length = c.has_input(1) ? integer_scalar(c, 1, "dft_length") : to_real ? 2 * (p.given - 1) : p.given;
  c.check(p.length >= 1, "the transform's length is {}; it must be at least 1", p.length);
  p.bins = p.flags.onesided && !p.flags.inverse ? p.length / 2 + 1 : p.length;
  p.out_parts = to_real ? 1 : 2;
  p.inner = in.numel(axis + 1, in.size() - 1);
  p.lines = in.numel(0, axis) * p.inner;
  p.output = in;
  p.output[axis] = p.bins;
  p.output[in.size() - 1] = p.out_parts;
  check_output_size(DType::kFloat64, p.output);
  return p;
}

/// One line of the input, cut or filled with zeros to the transform's length; half a spectrum is completed.
void read_line(const Plan& p, const double* x, int64_t line, std::vector<Complex>& out) {
  const double* from = x + (line / p.inner * p.given * p.inner + line % p.inner) * p.parts;
  std::fill(out.begin(), out.end(), Complex());
  const bool half = p.flags.inverse && p.flags.onesided;
  const int64_t count = std::min(p.given, half ? p.length / 2 + 1 : p.length);
  for (int64_t i = 0; i < count; ++i) {
    const double* part = from + i * p.inner * p.parts;
    out[static_cast<size_t>(i)] = {part[0], p.parts == 2 ? part[1] : 0.0};
  }
  if (!half) return;
  out[0].imag(0);
  if (p.length % 2 == 0) out[static_cast<size_t>(p.length / 2)].imag(0);
  for (int64_t i = p.length / 2 + 1; i < p.length; ++i)
    out[static_cast<size_t>(i)] = std::conj(out[static_cast<size_t>(p.length - i)]);
}

/// Calls transform(line in, spectrum out) for every line, in parallel, and stores what it gives.
template <typename F>
Tensor for_each_line(const EvalContext& c, const Plan& p, F transform) {
  Tensor y = Tensor::allocate(DType::kFloat64, p.output);
  const double* px = c.input(0).data<double>();
  double* py = y.mutable_data<double>();
  const double scale = p.flags.inverse ? 1 / static_cast<double>(p.length) : 1;
  parallel_for(p.lines, std::max<int64_t>(1, kElementGrain / 16 / p.length),
               [&](int64_t first, int64_t last) {
                 std::vector<Complex> in(static_cast<size_t>(p.length)), out(in.size());
                 for (int64_t line = first; line < last; ++line) {
                   read_line(p, px, line, in);
                   transform(in, out);
                   double* to = py + (line / p.inner * p.bins * p.inner + line % p.inner) * p.out_parts;
                   for (int64_t k = 0; k < p.bins; ++k, to += p.inner * p.out_parts) {
                     to[0] = out[static_cast<size_t>(k)].real() * scale;
                     if (p.out_parts == 2) to[1] = out[static_cast<size_t>(k)].imag() * scale;
                   }
                 }
               });
  return y;
}

void eval(EvalContext& c) {
  const Plan p = make_plan(c);
  const Fourier fourier(p.length, p.flags.inverse);
  c.set_output(0, for_each_line(c, p, [&](const std::vector<Complex>& in, std::vector<Complex>& out) {
                 fourier(in.data(), 1, out.data());
               }));
}

/// The sum of the line's magnitudes: sound for sums in any order, and for fast transforms, whose error is far
/// smaller.
void magnitude(EvalContext& c) { c.set_output(0, for_each_line(c, make_plan(c), fill_with_magnitude)); }

/// n additions, and angles of up to 2 pi n that err by u times their size where they are computed as they
/// stand.
int64_t terms(EvalContext& c) { return 8 * make_plan(c).length + 8; }

constexpr OpVersion kVersions[] = {
    {17, R"(
in  input: T1
in  dft_length: T2 ?
out output: T1
attr inverse: int = 0
attr axis: int = 1
attr onesided: int = 0
type T1: @float_ir4
type T2: int32 int64)",
     infer, eval},
    {20, R"(
in  input: T1
in  dft_length: T2 ?
in  axis: int64 ?
out output: T1
attr inverse: int = 0
attr onesided: int = 0
type T1: @float_ir4
type T2: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "DFT",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms, .magnitude = magnitude},
    .facts =
        {
            .uses = {{{.kind = InputUse::Kind::kCount, .input = 1},
                      {.kind = InputUse::Kind::kAxis, .input = 2}}},
            .extra_steps = fourier_steps,
        },
};

}  // namespace assay::op_onnx_DFT

namespace assay {

bool sums_of_dft(EvalContext& c, int64_t i, SummedElement& out) {
  using namespace op_onnx_DFT;
  const Plan p = make_plan(c);
  const int64_t place = i / p.out_parts, outer = place / (p.bins * p.inner);
  std::vector<Complex> line(static_cast<size_t>(p.length));
  read_line(p, c.input(0).data<double>(), outer * p.inner + place % p.inner, line);
  const double scale = p.flags.inverse ? 1 / static_cast<double>(p.length) : 1;
  set_sum_of_products(
      addends_of_transform(line, place / p.inner % p.bins, i % p.out_parts == 1, p.flags.inverse), scale, 0,
      out);
  return true;
}

}  // namespace assay
