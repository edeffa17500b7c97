// STFT: Fourier transforms of windowed frames of a signal: [batch, samples, parts] to [batch, frames, bins,
// 2].
#include "ops/eval_util.h"
#include "ops/infer_util.h"
#include "ops/op_list.h"
#include "ops/signal/fourier.h"
#include "ops/signal/scalars.h"
#include "ops/sums/sums.h"
#include "ops/work.h"

namespace assay::op_onnx_STFT {
namespace {

using Complex = std::complex<double>;

enum Input { kSignal, kStep, kWindow, kLength };

void infer(InferContext& c) {
  const Dims* in = c.input_dims(kSignal);
  if (in == nullptr) return c.set_output(0, c.input_dtype(0), Dims(4));
  c.check(in->size() == 3, "the signal has {} dimensions where 3 are needed", in->size());
  const Dims* window = c.has_input(kWindow) ? c.input_dims(kWindow) : nullptr;
  Dim length = (*in)[1];
  if (c.has_input(kWindow)) length = window != nullptr && window->size() == 1 ? (*window)[0] : Dim();
  if (c.has_input(kLength)) length = scalar_extent(c, kLength);
  const Dim frames = dim_add(dim_floor_div(dim_sub((*in)[1], length), scalar_extent(c, kStep)), Dim(1));
  const bool onesided = c.attr_int("onesided") != 0;
  const Dim bins = onesided ? dim_add(dim_floor_div(length, Dim(2)), Dim(1)) : length;
  c.set_output(0, c.input_dtype(0), {(*in)[0], frames, bins, Dim(2)});
}

struct Plan {
  int64_t batch, samples, parts, step, length, frames, bins;
  std::vector<double> window;
};

Plan make_plan(const EvalContext& c) {
  const Shape& in = c.shape(kSignal);
  c.check(in.size() == 3 && (in[2] == 1 || in[2] == 2),
          "the signal has shape {} where (batch, samples, 1 or 2) is needed", in.str());
  Plan p{.batch = in[0],
         .samples = in[1],
         .parts = in[2],
         .step = integer_scalar(c, kStep, "frame_step"),
         .length = in[1]};
  const bool onesided = c.attr_int("onesided") != 0;
  c.check(!onesided || p.parts == 1, "a one-sided transform needs a real signal");
  if (c.has_input(kWindow)) {
    c.check(c.shape(kWindow).size() == 1, "the window has shape {} where a vector is needed",
            c.shape(kWindow).str());
    p.length = c.shape(kWindow)[0];
  }
  if (c.has_input(kLength)) {
    const int64_t length = integer_scalar(c, kLength, "frame_length");
    c.check(!c.has_input(kWindow) || length == p.length, "frame_length is {}, but the window has {} elements",
            length, p.length);
    p.length = length;
  }
  c.check(p.step >= 1, "frame_step is {}; it must be at least 1", p.step);
  c.check(p.length >= 1 && p.length <= p.samples, "frames of {} do not fit in a signal of {}", p.length,
          p.samples);
  p.frames = (p.samples - p.length) / p.step + 1;
  p.bins = onesided ? p.length / 2 + 1 : p.length;
  p.window.assign(static_cast<size_t>(p.length), 1.0);
  if (c.has_input(kWindow)) std::copy_n(c.input(kWindow).data<double>(), p.length, p.window.begin());
  return p;
}

/// Frame i of all, windowed.
void read_frame(const Plan& p, const double* signal, int64_t i, std::vector<Complex>& frame) {
  const double* from = signal + (i / p.frames * p.samples + i % p.frames * p.step) * p.parts;
  for (int64_t n = 0; n < p.length; ++n, from += p.parts)
    frame[static_cast<size_t>(n)] =
        Complex(from[0], p.parts == 2 ? from[1] : 0.0) * p.window[static_cast<size_t>(n)];
}

/// Calls transform(frame in, spectrum out) for every windowed frame, in parallel, and stores what it gives.
template <typename F>
Tensor for_each_frame(const EvalContext& c, const Plan& p, F transform) {
  Tensor y = Tensor::allocate(DType::kFloat64, {p.batch, p.frames, p.bins, 2});
  const double* px = c.input(kSignal).data<double>();
  double* py = y.mutable_data<double>();
  parallel_for(p.batch * p.frames, std::max<int64_t>(1, kElementGrain / 16 / p.length),
               [&](int64_t first, int64_t last) {
                 std::vector<Complex> in(static_cast<size_t>(p.length)), out(in.size());
                 for (int64_t i = first; i < last; ++i) {
                   read_frame(p, px, i, in);
                   transform(in, out);
                   for (int64_t k = 0; k < p.bins; ++k) {
                     py[(i * p.bins + k) * 2] = out[static_cast<size_t>(k)].real();
                     py[(i * p.bins + k) * 2 + 1] = out[static_cast<size_t>(k)].imag();
                   }
                 }
               });
  return y;
}

void eval(EvalContext& c) {
  const Plan p = make_plan(c);
  const Fourier fourier(p.length, false);
  c.set_output(0, for_each_frame(c, p, [&](const std::vector<Complex>& in, std::vector<Complex>& out) {
                 fourier(in.data(), 1, out.data());
               }));
}

/// The sum of the windowed frame's magnitudes, as for DFT.
void magnitude(EvalContext& c) { c.set_output(0, for_each_frame(c, make_plan(c), fill_with_magnitude)); }

/// As for DFT, and the window.
int64_t terms(EvalContext& c) { return 8 * make_plan(c).length + 9; }

constexpr OpVersion kVersions[] = {
    {17, R"(
in  signal: T1
in  frame_step: T2
in  window: T1 ?
in  frame_length: T2 ?
out output: T1
attr onesided: int = 1
type T1: @float_ir4
type T2: int32 int64)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "",
    .name = "STFT",
    .versions = kVersions,
    .numerics = {.kind = Numerics::Kind::kAccumulating, .terms = terms, .magnitude = magnitude},
    .facts =
        {
            .extra_steps = fourier_steps,
        },
};

}  // namespace assay::op_onnx_STFT

namespace assay {

bool sums_of_stft(EvalContext& c, int64_t i, SummedElement& out) {
  using namespace op_onnx_STFT;
  const Plan p = make_plan(c);
  std::vector<Complex> frame(static_cast<size_t>(p.length));
  read_frame(p, c.input(kSignal).data<double>(), i / 2 / p.bins, frame);
  set_sum_of_products(addends_of_transform(frame, i / 2 % p.bins, i % 2 == 1, false), 1, 0, out);
  return true;
}

}  // namespace assay
