// How tactics write down a window that slides over images [N, C, spatial...], and read it again.
#pragma once

#include "engine/tactics/step_reader.h"
#include "kernels/conv.h"

namespace assay::engine {

inline void write_window(const kernels::Window& w, Parameters& parameters) {
  parameters.set("kernel", w.kernel);
  parameters.set("strides", w.strides);
  parameters.set("dilations", w.dilations);
  parameters.set("pads_begin", w.begin);
}

/// Of positions `out` over a plane of the image `in`: shapes of one rank, 3 to 2 + most_axes. Where the
/// window lies is left to the kernel, which must ask of each tap whether it is in the image; all its numbers
/// stay far from overflow.
inline kernels::Window read_window_over(const StepReader& r, const Shape& in, const Shape& out,
                                        size_t most_axes) {
  StepReader::check(in.size() >= 3 && in.size() <= 2 + most_axes && out.size() == in.size(),
                    "it makes {} of {}", out.str(), in.str());
  const size_t rank = in.size() - 2;
  kernels::Window w{.in = {in.begin() + 2, in.end()},
                    .out = {out.begin() + 2, out.end()},
                    .kernel = r.window("kernel", rank, 1),
                    .strides = r.window("strides", rank, 1),
                    .dilations = r.window("dilations", rank, 1),
                    .begin = r.window("pads_begin", rank, 0),
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
