// Steps of the tactic fourier: their parameters, and the kernel that runs them.
#pragma once

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/axis_kernel.h"
#include "kernels/fourier/fourier.h"

namespace assay::engine::tactic_fourier {

using kernels::Spectra;

struct StepFields {
  AxisField axis;                ///< of DFT
  std::optional<int64_t> step;   ///< of STFT, from frame to frame
  int64_t length = 0, most = 0;  ///< `most`: what the length may be
  bool inverse = false;          ///< of DFT
  bool onesided = false;

  void fields(FieldVisitor& visit) {
    visit("step", step, Bounds{1, kMaxOfWindow});
    if (!step) axis.fields(visit);
    visit("length", length, {1, most});
    if (!step) visit("inverse", inverse);
    visit("onesided", onesided);
  }
};

/// The output of a step with these numbers and shapes; nothing if they are inconsistent.
inline std::optional<Spectra> spectra_of_dft(const Shape& in, const Shape& out, size_t axis, int64_t length,
                                             bool inverse, bool onesided) {
  Spectra s{.length = length,
            .inverse = inverse,
            .given = in[axis],
            .parts = in.back(),
            .half = inverse && onesided};
  s.bins = onesided && !inverse ? length / 2 + 1 : length;
  s.out_parts = s.half ? 1 : 2;
  Shape wanted = in;
  wanted[axis] = s.bins;
  wanted[in.size() - 1] = s.out_parts;
  if (wanted != out || (s.parts != 1 && s.parts != 2)) return std::nullopt;
  const int64_t inner = in.numel(axis + 1, in.size() - 1);
  s.lines = in.numel(0, axis) * inner;
  s.in = {inner, s.given * inner * s.parts, s.parts, inner * s.parts};
  s.out = {inner, s.bins * inner * s.out_parts, s.out_parts, inner * s.out_parts};
  return s;
}

inline std::optional<Spectra> spectra_of_stft(const Shape& in, const Shape& out, int64_t step, int64_t length,
                                              bool onesided) {
  if (in.size() != 3 || (in[2] != 1 && in[2] != 2)) return std::nullopt;
  Spectra s{.length = length, .given = length, .parts = in[2]};
  s.bins = onesided ? length / 2 + 1 : length;
  if (length > in[1] || out != Shape{in[0], (in[1] - length) / step + 1, s.bins, 2}) return std::nullopt;
  const int64_t frames = out[1];
  s.lines = in[0] * frames;
  s.in = {frames, in[1] * s.parts, step * s.parts, s.parts};
  s.out = {frames, frames * s.bins * 2, s.bins * 2, 2};
  return s;
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_fourier
