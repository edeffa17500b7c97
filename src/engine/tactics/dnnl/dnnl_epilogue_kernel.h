// Epilogues of convolutions and matrix products
// on results in registers: oneDNN's post-ops.
#pragma once

#include <algorithm>
#include <dnnl.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tactics/dnnl/dnnl_kernel.h"
#include "engine/tactics/epilogue_kernel.h"

namespace assay::engine {

/// Empty when oneDNN has post-ops for all entries; else the sentence that names the one it lacks.
std::string epilogue_refusal(const EpilogueSpec& spec);

/// The spec of a step on a result of this shape and layout, after `inputs` other inputs. Throws Error
/// (kInvalidModel) unless oneDNN has post-ops for it and every operand covers the result as they need it.
EpilogueSpec post_op_spec(const StepReader& r, size_t inputs, const Shape& result, Layout layout);

/// oneDNN's form of a spec, and the operands it binds.
struct PostOps {
  dnnl::post_ops ops;
  struct Binding {
    int arg;
    dnnl::memory::desc desc;
    size_t position;
    int64_t offset;  ///< in bytes
  };
  std::vector<Binding> bindings;
};

/// Post-ops on a part of a result of this shape. Entry `accumulate`, when not -1, adds the content of the
/// output's memory.
PostOps make_post_ops(const EpilogueSpec& spec, const Shape& result, const Box& part, int accumulate = -1);

/// The entry whose operand is in the output's memory, as the step says; -1 when there is none.
int accumulating_entry(const EpilogueSpec& spec, const Step& step);

/// Scratch memory given by the caller, and the post-ops.
dnnl::primitive_attr make_attributes(const PostOps& post_ops);

/// Packed weights of a step's primitives, concatenated. Primitives of one key have the same weights.
class PackedWeights {
 public:
  /// Adds the weights of the next primitive; returns their offset in bytes.
  int64_t add(int64_t key, const dnnl::memory::desc& desc);
  int64_t bytes() const { return bytes_; }
  /// The identity of the packing: keys and memory formats, in full.
  std::string str() const;
  /// One uint8 tensor; `part` gives the row-major float32 weights of a key and their descriptor.
  Tensor pack(const std::function<std::pair<Tensor, dnnl::memory::desc>(int64_t key)>& part) const;

 private:
  struct Place {
    int64_t key, offset;
    dnnl::memory::desc desc;
  };
  std::vector<Place> places_;
  int64_t bytes_ = 0;
};

/// Whether parts have one descriptor: those of one size, unless `describe` says otherwise.
template <typename Describe>
bool are_alike(const Describe& describe, const Box& a, const Box& b) {
  if constexpr (requires { describe.are_alike(a, b); })
    return describe.are_alike(a, b);
  else
    return a.size == b.size;
}

/// The primitives of a step, one for each part of its result, while the step is made. `describe(part,
/// post_ops)` gives a primitive descriptor, the same for parts that are_alike(), and throws dnnl::error where
/// there is none; `key(part)` says which parts share their weights.
template <typename Descriptor>
struct FusedParts {
  std::vector<Descriptor> descriptors;
  PackedWeights weights;
  std::vector<int64_t> weight_offsets;
  int64_t scratch = 0;

  template <typename Describe, typename Key>
  FusedParts(const std::vector<Box>& parts, const EpilogueSpec& spec, const Shape& result, int accumulate,
             Describe describe, Key key) {
    for (const Box& part : parts) {
      const auto same =
          std::find_if(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(descriptors.size()),
                       [&](const Box& made) { return are_alike(describe, made, part); });
      const auto i = static_cast<size_t>(same - parts.begin());
      descriptors.push_back(i < descriptors.size()
                                ? Descriptor(descriptors[i])
                                : describe(part, make_post_ops(spec, result, part, accumulate)));
      weight_offsets.push_back(weights.add(key(part), descriptors.back().weights_desc()));
      scratch += scratch_bytes(descriptors.back().scratchpad_desc());
    }
  }
  bool has_weights_of(const FusedParts& other) const {
    for (size_t i = 0; i < descriptors.size(); ++i)
      if (!(descriptors[i].weights_desc() == other.descriptors[i].weights_desc())) return false;
    return true;
  }
};

/// Whether an added operand may be accumulated onto instead of read: keeps may_accumulate only where oneDNN
/// has the kernels for it, with the same weights. Returns the scratch that either needs.
template <typename Descriptor, typename Describe, typename Key>
int64_t settle_accumulation(EpilogueSpec& spec, const FusedParts<Descriptor>& made,
                            const std::vector<Box>& parts, const Shape& result, Describe describe, Key key) {
  int64_t scratch = made.scratch;
  bool settled = false;
  for (size_t i = 0; i < spec.entries.size(); ++i) {
    if (!spec.entries[i].may_accumulate) continue;
    bool possible = false;
    try {
      if (!settled) {
        const FusedParts<Descriptor> candidate(parts, spec, result, static_cast<int>(i), describe, key);
        possible = candidate.has_weights_of(made);
        if (possible) scratch = std::max(scratch, candidate.scratch);
      }
    } catch (const dnnl::error&) {
      possible = false;
    }
    spec.entries[i].may_accumulate = possible;
    settled = settled || possible;
  }
  return scratch;
}

/// Makes a step's kernel; the epilogue's operands follow 3 other inputs, see post_op_spec(). `bind(kernel,
/// descriptor, part)` adds a primitive with its arguments besides the weights (step input 1), the operands of
/// the epilogue and scratch memory. Throws Error (kInvalidModel) where packed weights or scratch memory do
/// not fit.
template <typename Descriptor, typename Describe, typename Key, typename Bind>
std::unique_ptr<Kernel> make_fused_kernel(const StepReader& r, const EpilogueSpec& spec, const Shape& result,
                                          const std::vector<Box>& parts, bool packed, Describe describe,
                                          Key key, Bind bind) {
  const int accumulate = accumulating_entry(spec, r.step());
  const FusedParts<Descriptor> made(parts, spec, result, accumulate, describe, key);
  if (packed) r.check_elements(r.row_input(1, DType::kUInt8), {made.weights.bytes()});
  r.check_scratch(made.scratch);
  auto kernel = std::make_unique<DnnlKernel>();
  for (size_t i = 0; i < parts.size(); ++i) {
    const Descriptor& pd = made.descriptors[i];
    bind(*kernel, pd, parts[i]);
    if (packed) kernel->add_input(DNNL_ARG_WEIGHTS, pd.weights_desc(), 1, made.weight_offsets[i]);
    for (const PostOps::Binding& b : make_post_ops(spec, result, parts[i], accumulate).bindings)
      kernel->add_input(b.arg, b.desc, b.position, b.offset);
    kernel->add_scratch(pd.scratchpad_desc());
  }
  return kernel;
}

}  // namespace assay::engine
