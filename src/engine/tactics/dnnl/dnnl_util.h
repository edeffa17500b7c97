// Proposals of the tactics on oneDNN.
#pragma once

#include "engine/tactics/dnnl/dnnl_kernel.h"
#include "engine/tactics/tactic.h"

namespace assay::engine {

/// Adds a candidate for every layout of an image, but channels last, in which oneDNN makes another image of
/// it without weights: input and output 0 of the node, both in that layout. `parts(layout)` cuts the result,
/// `describe(layout, part)` gives the descriptor and throws dnnl::error where there is none; `operations` of
/// `efficiency(layout, implementation)` estimate it. Returns why there are none, or nothing.
template <typename Fields, typename Parts, typename Describe, typename Efficiency>
std::string add_image_candidates(const Problem& p, const Fields& fields, Parts parts, Describe describe,
                                 double operations, Efficiency efficiency, Proposals& proposals) {
  std::string refusal;
  for (const Layout layout : p.layouts(DType::kFloat32, *p.input_shape(0))) {
    if (layout.is_channels_last()) continue;
    std::string implementation;
    int64_t scratch = 0;
    try {
      for (const Box& part : parts(layout)) {
        const auto pd = describe(layout, part);
        scratch += scratch_bytes(pd.scratchpad_desc());
        implementation = pd.impl_info_str();
      }
    } catch (const dnnl::error& e) {
      refusal = fmt::format("oneDNN has no implementation ({})", e.what());
      continue;
    }
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0), layout);
    b.add_output(p.node().output(0), layout);
    b.write(fields);
    b.write(DnnlFields{.threads = p.config().threads, .implementation = implementation});
    b.step.scratch_bytes = scratch;
    b.estimate = estimate_seconds(operations, 0, efficiency(layout, implementation));
  }
  return proposals.candidates().empty() ? refusal : std::string();
}

}  // namespace assay::engine
