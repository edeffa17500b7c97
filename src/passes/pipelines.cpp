#include "passes/pipelines.h"

#include "passes/pass_list.h"

namespace assay {
namespace {

constexpr const PassDef* kLowering[] = {&pass_inline_functions, &pass_raise_opset};

constexpr const PassDef* kCanonical[] = {
    &pass_constants_to_initializers,
    &pass_widen_halves,
    &pass_fold_constants,
    &pass_eliminate_identity,
    &pass_fold_batch_norm,
    &pass_fold_channel_affine,
    &pass_lower_batch_norm,
    &pass_fuse_pad,
    &pass_merge_transposes,
    &pass_eliminate_common_subexpressions,
    &pass_eliminate_dead_code,
};

constexpr const PassDef* kSpecialize[] = {
    &pass_fold_constants,      &pass_eliminate_identity, &pass_lower_batch_norm,
    &pass_split_variadic,      &pass_merge_transposes,   &pass_canonicalize_views,
    &pass_eliminate_identity,  &pass_fold_constants,     &pass_eliminate_common_subexpressions,
    &pass_eliminate_dead_code,
};

constexpr const PassDef* kIdioms[] = {
    &pass_fuse_silu,       &pass_fuse_hard_swish, &pass_fuse_mish,           &pass_fuse_gelu,
    &pass_fuse_layer_norm, &pass_fuse_softmax,    &pass_eliminate_dead_code,
};

/// A pass of the simplifier, and the opset that has the operator which it makes.
struct SimplifyStep {
  const PassDef* pass;
  int64_t since = 0;
};

constexpr SimplifyStep kSimplify[] = {
    {&pass_eliminate_identity},
    {&pass_fold_extents},
    {&pass_constant_shapes},
    {&pass_eliminate_neutral},
    {&pass_eliminate_idempotent},
    {&pass_merge_equal_constants},
    {&pass_eliminate_common_subexpressions},
    {&pass_merge_transposes},
    {&pass_sink_transposes},
    {&pass_fold_batch_norm},
    {&pass_fold_channel_affine},
    {&pass_fuse_pad},
    {&pass_merge_views},
    {&pass_merge_slices},
    {&pass_merge_gathers},
    {&pass_merge_concats},
    {&pass_merge_reductions},
    {&pass_merge_casts},
    {&pass_merge_scalings},
    {&pass_fuse_hard_swish, 14},
    {&pass_fuse_layer_norm, 17},
    {&pass_fuse_mish, 18},
    {&pass_fuse_gelu, 20},
    {&pass_fuse_silu, 24},
    {&pass_regions_to_operators},
    {&pass_fuse_rms_norm, 23},
    {&pass_fuse_gemm, 7},
    {&pass_drop_zero_states},
    {&pass_eliminate_dead_code},
};

constexpr const PassDef* kSimplifyEnd[] = {&pass_merge_products};

}  // namespace

std::span<const PassDef* const> lowering_pipeline() { return kLowering; }
std::span<const PassDef* const> canonical_pipeline() { return kCanonical; }
std::span<const PassDef* const> specialize_pipeline() { return kSpecialize; }
std::span<const PassDef* const> idiom_pipeline() { return kIdioms; }

std::span<const PassDef* const> simplify_end_pipeline() { return kSimplifyEnd; }

std::vector<const PassDef*> simplify_pipeline(int64_t opset) {
  std::vector<const PassDef*> passes;
  for (const SimplifyStep& s : kSimplify)
    if (opset >= s.since) passes.push_back(s.pass);
  return passes;
}

}  // namespace assay
