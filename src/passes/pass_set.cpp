#include "passes/pass_set.h"

#include <algorithm>

#include "assay/error.h"
#include "passes/pass_list.h"

namespace assay {
namespace {

/// A place in a stage of the built-in passes.
struct Place {
  PassStage stage;
  const PassDef* pass;
  /// The opset that has the operator which it makes.
  int64_t since = 0;
};

constexpr Place kPlaces[] = {
    {PassStage::kLowering, &pass_inline_functions::def},
    {PassStage::kLowering, &pass_raise_opset::def},
    {PassStage::kLowering, &pass_lower_quantized::def},
    {PassStage::kLowering, &pass_move_quantized::def},

    {PassStage::kCanonical, &pass_constants_to_initializers::def},
    {PassStage::kCanonical, &pass_pack_weights::def},
    {PassStage::kCanonical, &pass_widen_halves::def},
    {PassStage::kCanonical, &pass_fold_constants::def},
    {PassStage::kCanonical, &pass_capture_loop_states::def},
    {PassStage::kCanonical, &pass_eliminate_identity::def},
    {PassStage::kCanonical, &pass_fold_batch_norm::def},
    {PassStage::kCanonical, &pass_fold_channel_affine::def},
    {PassStage::kCanonical, &pass_merge_convolutions::def},
    {PassStage::kCanonical, &pass_lower_batch_norm::def},
    {PassStage::kCanonical, &pass_fuse_pad::def},
    {PassStage::kCanonical, &pass_merge_transposes::def},
    {PassStage::kCanonical, &pass_eliminate_common_subexpressions::def},
    {PassStage::kCanonical, &pass_eliminate_dead_code::def},

    {PassStage::kSpecialize, &pass_fold_constants::def},
    {PassStage::kSpecialize, &pass_fold_empty::def},
    {PassStage::kSpecialize, &pass_capture_loop_states::def},
    {PassStage::kSpecialize, &pass_collect_appends::def},
    {PassStage::kSpecialize, &pass_count_loop_trips::def},
    {PassStage::kSpecialize, &pass_hoist_loop_nodes::def},
    {PassStage::kSpecialize, &pass_lower_formulas::def},
    {PassStage::kSpecialize, &pass_lower_fused::def},
    {PassStage::kSpecialize, &pass_lower_integer_products::def},
    {PassStage::kSpecialize, &pass_lower_attention::def},
    {PassStage::kSpecialize, &pass_eliminate_identity::def},
    {PassStage::kSpecialize, &pass_lower_batch_norm::def},
    {PassStage::kSpecialize, &pass_split_variadic::def},
    {PassStage::kSpecialize, &pass_merge_transposes::def},
    {PassStage::kSpecialize, &pass_lower_moves::def},
    {PassStage::kSpecialize, &pass_gather_quantized::def},
    {PassStage::kSpecialize, &pass_move_quantized::def},
    {PassStage::kSpecialize, &pass_lower_products::def},
    {PassStage::kSpecialize, &pass_scale_queries::def},
    {PassStage::kSpecialize, &pass_canonicalize_views::def},
    {PassStage::kSpecialize, &pass_eliminate_identity::def},
    {PassStage::kSpecialize, &pass_fold_constants::def},
    {PassStage::kSpecialize, &pass_eliminate_common_subexpressions::def},
    {PassStage::kSpecialize, &pass_nest_concats::def},
    {PassStage::kSpecialize, &pass_eliminate_dead_code::def},

    {PassStage::kOpen, &pass_constant_shapes::def},
    {PassStage::kOpen, &pass_eliminate_common_subexpressions::def},
    {PassStage::kOpen, &pass_eliminate_dead_code::def},

    {PassStage::kIdioms, &pass_fuse_silu::def},
    {PassStage::kIdioms, &pass_fuse_hard_swish::def},
    {PassStage::kIdioms, &pass_fuse_mish::def},
    {PassStage::kIdioms, &pass_fuse_gelu::def},
    {PassStage::kIdioms, &pass_fuse_layer_norm::def},
    {PassStage::kIdioms, &pass_fuse_rms_norm::def},
    {PassStage::kIdioms, &pass_fuse_softmax::def},
    {PassStage::kIdioms, &pass_fuse_lookup::def},
    {PassStage::kIdioms, &pass_eliminate_dead_code::def},

    {PassStage::kSimplify, &pass_capture_loop_states::def},
    {PassStage::kSimplify, &pass_count_loop_trips::def},
    {PassStage::kSimplify, &pass_hoist_loop_nodes::def},
    {PassStage::kSimplify, &pass_eliminate_identity::def},
    {PassStage::kSimplify, &pass_fold_extents::def},
    {PassStage::kSimplify, &pass_constant_shapes::def},
    {PassStage::kSimplify, &pass_eliminate_neutral::def},
    {PassStage::kSimplify, &pass_eliminate_idempotent::def},
    {PassStage::kSimplify, &pass_merge_equal_constants::def},
    {PassStage::kSimplify, &pass_eliminate_common_subexpressions::def},
    {PassStage::kSimplify, &pass_merge_transposes::def},
    {PassStage::kSimplify, &pass_sink_transposes::def},
    {PassStage::kSimplify, &pass_fold_batch_norm::def},
    {PassStage::kSimplify, &pass_fold_channel_affine::def},
    {PassStage::kSimplify, &pass_merge_convolutions::def},
    {PassStage::kSimplify, &pass_fuse_pad::def},
    {PassStage::kSimplify, &pass_merge_views::def},
    {PassStage::kSimplify, &pass_merge_slices::def},
    {PassStage::kSimplify, &pass_merge_gathers::def},
    {PassStage::kSimplify, &pass_merge_concats::def},
    {PassStage::kSimplify, &pass_merge_reductions::def},
    {PassStage::kSimplify, &pass_merge_casts::def},
    {PassStage::kSimplify, &pass_merge_scalings::def},
    {PassStage::kSimplify, &pass_fuse_hard_swish::def, 14},
    {PassStage::kSimplify, &pass_fuse_layer_norm::def, 17},
    {PassStage::kSimplify, &pass_fuse_mish::def, 18},
    {PassStage::kSimplify, &pass_fuse_gelu::def, 20},
    {PassStage::kSimplify, &pass_fuse_silu::def, 24},
    {PassStage::kSimplify, &pass_regions_to_operators::def},
    {PassStage::kSimplify, &pass_fuse_rms_norm::def, 23},
    {PassStage::kSimplify, &pass_fuse_gemm::def, 7},
    {PassStage::kSimplify, &pass_drop_zero_states::def},
    {PassStage::kSimplify, &pass_eliminate_dead_code::def},

    {PassStage::kSimplifyEnd, &pass_merge_products::def},
};

}  // namespace

void PassSet::add(const PassDef& pass, PassStage stage, int64_t since, std::shared_ptr<const void> owner) {
  require((pass.match != nullptr) + (pass.run != nullptr) + (pass.custom != nullptr) == 1,
          ErrorCode::kInvalidArgument, "the pass {} needs either a match or a run", pass.name);
  const PassDef* other = find(pass.name);
  require(other == nullptr || other == &pass, ErrorCode::kInvalidArgument,
          "there is a pass named '{}' already", pass.name);
  stages_[static_cast<size_t>(stage)].push_back({&pass, since});
  if (owner != nullptr) owners_.push_back(std::move(owner));
}

std::vector<const PassDef*> PassSet::stage(PassStage stage, int64_t opset) const {
  std::vector<const PassDef*> passes;
  for (const Step& s : stages_[static_cast<size_t>(stage)])
    if (opset >= s.since) passes.push_back(s.pass);
  return passes;
}

std::vector<const PassDef*> PassSet::all() const {
  std::vector<const PassDef*> passes;
  for (const std::vector<Step>& steps : stages_)
    for (const Step& s : steps)
      if (std::find(passes.begin(), passes.end(), s.pass) == passes.end()) passes.push_back(s.pass);
  return passes;
}

const PassDef* PassSet::find(std::string_view name) const {
  for (const std::vector<Step>& steps : stages_)
    for (const Step& s : steps)
      if (s.pass->name == name) return s.pass;
  return nullptr;
}

const PassSet& built_in_passes() {
  static const auto* const kSet = [] {
    auto* set = new PassSet;
    for (const Place& p : kPlaces) set->add(*p.pass, p.stage, p.since);
    return set;
  }();
  return *kSet;
}

}  // namespace assay
