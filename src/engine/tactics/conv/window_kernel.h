// How tactics write down a window that slides over images [N, C, spatial...], and read it again.
#pragma once

#include "engine/runtime/step_reader.h"
#include "kernels/conv.h"

namespace assay::engine {

struct WindowFields {
  size_t axes = 0;
  std::vector<int64_t> kernel = {}, strides = {}, dilations = {}, begin = {};

  void fields(FieldVisitor& visit) {
    visit("kernel", kernel, axes, {1, kMaxOfWindow});
    visit("strides", strides, axes, {1, kMaxOfWindow});
    visit("dilations", dilations, axes, {1, kMaxOfWindow});
    visit("pads_begin", begin, axes, {0, kMaxOfWindow});
  }
};

/// To be written.
inline WindowFields window_fields(const kernels::Window& w) {
  return {w.rank(), w.kernel, w.strides, w.dilations, w.begin};
}
/// To be read: of positions `out` over a plane of the image `in`. Throws Error (kInvalidModel) unless they
/// are shapes of one rank, 3 to 2 + most_axes.
inline WindowFields window_fields(const Shape& in, const Shape& out, size_t most_axes) {
  StepReader::check(in.size() >= 3 && in.size() <= 2 + most_axes && out.size() == in.size(),
                    "it makes {} of {}", out.str(), in.str());
  return {in.size() - 2};
}

/// The window over these shapes. Its position is left to the kernel, which must check each tap for being in
/// the image; all its numbers stay far from overflow.
inline kernels::Window window_over(const StepReader& r, const WindowFields& p, const Shape& in,
                                   const Shape& out) {
  const size_t rank = p.axes;
  kernels::Window w{.in = {in.begin() + 2, in.end()},
                    .out = {out.begin() + 2, out.end()},
                    .kernel = p.kernel,
                    .strides = p.strides,
                    .dilations = p.dilations,
                    .begin = p.begin,
                    .end = std::vector<int64_t>(rank, 0)};
  int64_t taps = 1;
  for (size_t d = 0; d < rank; ++d) {
    taps = r.product({taps, w.kernel[d]});
    r.product({w.kernel[d], w.dilations[d]});
    r.product({w.out[d], w.strides[d]});
  }
  StepReader::check(Shape(w.in).numel() <= kMaxOfWindow, "a plane of {} is too large", in.str());
  return w;
}

}  // namespace assay::engine
