// Steps of the tactic dnnl_pool: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/conv/channel_window_kernel.h"
#include "engine/tactics/dnnl/dnnl_kernel.h"

namespace assay::engine::tactic_dnnl_pool {

using Pool = dnnl::pooling_v2_forward;

/// Images and channels are pooled each on its own.
inline std::vector<Box> parts_of(const Shape& out, Layout layout, int64_t threads) {
  return channel_parts(out, layout, threads);
}

/// The part of the input for a part of the result.
inline Box input_part(const Shape& in, const Box& part) {
  Box box = whole_box(in);
  for (const size_t d : {0, 1}) {
    box.begin[d] = part.begin[d];
    box.size[d] = part.size[d];
  }
  return box;
}

enum class PoolWay : uint8_t { kMax, kAverage, kAverageWithPads };

inline constexpr std::string_view kPoolWays[] = {"max", "average", "average_with_pads"};

struct StepFields {
  PoolWay kind = PoolWay::kMax;
  std::vector<int64_t> kernel = {};
  DnnlWindowFields window = {};

  void fields(FieldVisitor& visit) {
    visit("kind", kind, kPoolWays, "it pools by '{}'");
    visit("kernel", kernel, window.axes, {1, kMaxOfWindow});
    window.fields(visit);
  }
};

/// The parameters for oneDNN, from a problem or from a step.
struct PoolShape {
  Shape in, out;
  StepFields p;
};

inline Pool::primitive_desc describe(const PoolShape& s, Layout layout, const Box& part) {
  const DnnlWindowFields& w = s.p.window;
  const auto algorithm = s.p.kind == PoolWay::kMax ? dnnl::algorithm::pooling_max
                         : s.p.kind == PoolWay::kAverageWithPads
                             ? dnnl::algorithm::pooling_avg_include_padding
                             : dnnl::algorithm::pooling_avg_exclude_padding;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OneThread alone;
  return {Pool::desc(dnnl::prop_kind::forward_inference, algorithm,
                     part_desc(s.in, layout, input_part(s.in, part)), part_desc(s.out, layout, part),
                     to_dnnl(w.strides), to_dnnl(s.p.kernel), to_dnnl(w.dilations), to_dnnl(w.begin),
                     to_dnnl(w.end)),
          attributes, dnnl_engine()};
}

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_dnnl_pool
