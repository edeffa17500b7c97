// Steps of the tactic dnnl_deconv: their parameters, and the kernel that runs them.
#pragma once

#include <algorithm>
#include <numeric>

#include "engine/runtime/kernel.h"
#include "engine/runtime/step_reader.h"
#include "engine/tactics/dnnl/dnnl_epilogue_kernel.h"

namespace assay::engine::tactic_dnnl_deconv {

using dnnl::memory;
using Deconvolution = dnnl::deconvolution_forward;

struct StepFields {
  int64_t most_groups = 1;
  std::vector<int64_t> weights;  ///< their shape, the groups first where there are several
  DnnlWindowFields window;
  int64_t groups = 1;

  void fields(FieldVisitor& visit) {
    visit("weights", weights);
    window.fields(visit);
    visit("groups", groups, {1, most_groups});
  }
};

/// Extents besides those of the parameters.
struct Extents {
  Shape in, out;
  Layout layout;
  int64_t groups = 1;
  bool has_bias = false;

  int64_t group_inputs() const { return in[1] / groups; }
  int64_t group_outputs() const { return out[1] / groups; }
};

inline std::vector<Box> parts_of(const Extents& e, int64_t threads) {
  if (e.groups == 1) return channel_parts(e.out, e.layout, threads);
  const int64_t together =
      e.layout.is_blocked() ? e.layout.block / std::gcd(int64_t{e.layout.block}, e.group_inputs()) : 1;
  return channel_parts(e.out, e.layout, threads, e.group_outputs() * together);
}

inline Box input_part(const Extents& e, const Box& part) {
  Box in = whole_box(e.in);
  in.begin[0] = part.begin[0];
  in.size[0] = part.size[0];
  if (e.groups > 1) {
    in.begin[1] = part.begin[1] / e.group_outputs() * e.group_inputs();
    in.size[1] = part.size[1] / e.group_outputs() * e.group_inputs();
  }
  return in;
}

/// The weights of a part, as oneDNN orders them: output channels first, groups before them.
inline Shape part_weights(const Extents& e, const Box& part, const StepFields& p) {
  Shape weights(p.weights);
  weights[0] = e.groups == 1 ? part.size[1] : part.size[1] / e.group_outputs();
  return weights;
}

inline Deconvolution::primitive_desc describe(const Extents& e, const Box& part, const StepFields& p) {
  const memory::desc src = part_desc(e.in, e.layout, input_part(e, part)),
                     dst = part_desc(e.out, e.layout, part), weights = any_desc(part_weights(e, part, p));
  const DnnlWindowFields& w = p.window;
  const memory::dims strides = to_dnnl(w.strides), dilations = to_dnnl(w.dilations), begin = to_dnnl(w.begin),
                     end = to_dnnl(w.end);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direct = dnnl::algorithm::deconvolution_direct;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const OneThread alone;
  if (!e.has_bias)
    return {Deconvolution::desc(kind, direct, src, weights, dst, strides, dilations, begin, end), attributes,
            dnnl_engine()};
  const memory::desc bias = memory_desc({part.size[1]}, {});
  return {Deconvolution::desc(kind, direct, src, weights, bias, dst, strides, dilations, begin, end),
          attributes, dnnl_engine()};
}

inline int64_t weights_key(const Box& part) { return part.begin[1]; }

/// Throws Error (kInvalidModel) for a step that the tactic cannot have proposed.
std::unique_ptr<Kernel> create(const Plan& plan, const Step& step);

}  // namespace assay::engine::tactic_dnnl_deconv
