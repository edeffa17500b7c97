#include "passes/pipelines.h"

#include "passes/pass_list.h"

namespace assay {
namespace {

constexpr const PassDef* kLowering[] = {&pass_inline_functions::def, &pass_raise_opset::def};

constexpr const PassDef* kCanonical[] = {
    &pass_constants_to_initializers::def,
    &pass_widen_halves::def,
    &pass_fold_constants::def,
    &pass_eliminate_identity::def,
    &pass_fold_batch_norm::def,
    &pass_fold_channel_affine::def,
    &pass_lower_batch_norm::def,
    &pass_fuse_pad::def,
    &pass_merge_transposes::def,
    &pass_eliminate_common_subexpressions::def,
    &pass_eliminate_dead_code::def,
};

constexpr const PassDef* kSpecialize[] = {
    &pass_fold_constants::def,      &pass_eliminate_identity::def, &pass_lower_batch_norm::def,
    &pass_split_variadic::def,      &pass_merge_transposes::def,   &pass_canonicalize_views::def,
    &pass_eliminate_identity::def,  &pass_fold_constants::def,     &pass_eliminate_common_subexpressions::def,
    &pass_eliminate_dead_code::def,
};

constexpr const PassDef* kIdioms[] = {
    &pass_fuse_silu::def,           &pass_fuse_hard_swish::def, &pass_fuse_mish::def,
    &pass_fuse_gelu::def,           &pass_fuse_layer_norm::def, &pass_fuse_softmax::def,
    &pass_eliminate_dead_code::def,
};

/// A pass of the simplifier, and the opset that has the operator which it makes.
struct SimplifyStep {
  const PassDef* pass;
  int64_t since = 0;
};

constexpr SimplifyStep kSimplify[] = {
    {&pass_eliminate_identity::def},
    {&pass_fold_extents::def},
    {&pass_constant_shapes::def},
    {&pass_eliminate_neutral::def},
    {&pass_eliminate_idempotent::def},
    {&pass_merge_equal_constants::def},
    {&pass_eliminate_common_subexpressions::def},
    {&pass_merge_transposes::def},
    {&pass_sink_transposes::def},
    {&pass_fold_batch_norm::def},
    {&pass_fold_channel_affine::def},
    {&pass_fuse_pad::def},
    {&pass_merge_views::def},
    {&pass_merge_slices::def},
    {&pass_merge_gathers::def},
    {&pass_merge_concats::def},
    {&pass_merge_reductions::def},
    {&pass_merge_casts::def},
    {&pass_merge_scalings::def},
    {&pass_fuse_hard_swish::def, 14},
    {&pass_fuse_layer_norm::def, 17},
    {&pass_fuse_mish::def, 18},
    {&pass_fuse_gelu::def, 20},
    {&pass_fuse_silu::def, 24},
    {&pass_regions_to_operators::def},
    {&pass_fuse_rms_norm::def, 23},
    {&pass_fuse_gemm::def, 7},
    {&pass_drop_zero_states::def},
    {&pass_eliminate_dead_code::def},
};

constexpr const PassDef* kSimplifyEnd[] = {&pass_merge_products::def};

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
