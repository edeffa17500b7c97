// What runs on the result of a convolution or matrix product while it is still in registers: oneDNN's
// post-ops.
#pragma once

#include <algorithm>
#include <dnnl.hpp>
#include <string>
#include <vector>

#include "engine/tactics/dnnl_util.h"
#include "engine/tactics/epilogue.h"

namespace assay::engine {

/// Empty when oneDNN has post-ops for all steps; else the sentence that names the one it lacks.
std::string epilogue_refusal(const std::vector<EpilogueStep>& epilogue);

/// oneDNN's form of a spec, and the operands it binds.
struct PostOps {
  dnnl::post_ops ops;
  struct Binding {
    int arg;
    dnnl::memory::desc desc;
    size_t position;
  };
  std::vector<Binding> bindings;
};

/// Post-ops on a result of these extents. Entry `accumulate`, when not -1, adds what lies in the output's
/// memory.
PostOps make_post_ops(const EpilogueSpec& spec, const Shape& extents, int accumulate = -1);
/// The entry whose operand the planner put into the output's memory; -1 when there is none.
int accumulating_entry(const EpilogueSpec& spec, const Plan& plan, const Step& step);

/// Scratch memory given by the caller, and the post-ops.
dnnl::primitive_attr make_attributes(const PostOps& post_ops);

/// Whether an added operand may be accumulated onto instead of read: keeps may_accumulate only where oneDNN
/// has the kernel for it, with the same weights. Returns the scratch that either needs.
template <typename Descriptor, typename Describe>
int64_t settle_accumulation(EpilogueSpec& spec, const Shape& extents, const Descriptor& pd,
                            Describe describe) {
  auto scratch = static_cast<int64_t>(pd.scratchpad_desc().get_size());
  bool settled = false;
  for (size_t i = 0; i < spec.entries.size(); ++i) {
    if (!spec.entries[i].may_accumulate) continue;
    bool possible = false;
    try {
      if (!settled) {
        const Descriptor candidate = describe(make_post_ops(spec, extents, static_cast<int>(i)));
        possible = candidate.weights_desc() == pd.weights_desc();
        if (possible)
          scratch = std::max(scratch, static_cast<int64_t>(candidate.scratchpad_desc().get_size()));
      }
    } catch (const dnnl::error&) {
      possible = false;
    }
    spec.entries[i].may_accumulate = possible;
    settled = settled || possible;
  }
  return scratch;
}

/// Makes a step's kernel. `describe` gives the primitive descriptor for post-ops; `bind` makes the kernel
/// with its own arguments (weights are step input 1).
template <typename Describe, typename Bind>
std::unique_ptr<Kernel> make_fused_kernel(const Plan& plan, const Step& step, const Shape& extents,
                                          Describe describe, Bind bind) {
  const EpilogueSpec spec = epilogue_spec(plan, step);
  const PostOps post_ops = make_post_ops(spec, extents, accumulating_entry(spec, plan, step));
  const auto pd = describe(post_ops);
  const size_t packed = plan.values[static_cast<size_t>(step.inputs[1])].bytes();
  require(pd.weights_desc().get_size() == packed, ErrorCode::kInternal,
          "the weights were packed for another kernel: {} bytes, not {}", packed,
          pd.weights_desc().get_size());
  std::unique_ptr<DnnlKernel> kernel = bind(pd);
  for (const PostOps::Binding& b : post_ops.bindings) kernel->add_input(b.arg, b.desc, b.position);
  kernel->add_scratch(pd.scratchpad_desc());
  return kernel;
}

}  // namespace assay::engine
