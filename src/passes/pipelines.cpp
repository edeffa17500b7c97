#include "passes/pipelines.h"

#include "passes/pass_list.h"

namespace assay {
namespace {

constexpr const PassDef* kLowering[] = {&pass_inline_functions, &pass_raise_opset};

constexpr const PassDef* kCanonical[] = {
    &pass_constants_to_initializers,
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
    &pass_fuse_silu, &pass_fuse_hard_swish, &pass_fuse_mish, &pass_fuse_gelu, &pass_fuse_layer_norm, &pass_fuse_softmax, &pass_eliminate_dead_code,
};

}  // namespace

std::span<const PassDef* const> lowering_pipeline() { return kLowering; }
std::span<const PassDef* const> canonical_pipeline() { return kCanonical; }
std::span<const PassDef* const> specialize_pipeline() { return kSpecialize; }
std::span<const PassDef* const> idiom_pipeline() { return kIdioms; }

}  // namespace assay
