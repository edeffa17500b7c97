// Convolution in groups of several channels, channels last: vectors of output channels, rows that are read in
// place.
#include <numeric>

#include "engine/tactics/conv/narrow_group_conv_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/product/tiled_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_narrow_group_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

Tensor pack(const UnalignedTensor& weights, const NarrowGroupConv& lanes) {
  const Tensor all = weights.aligned();
  Tensor packed = Tensor::allocate(DType::kFloat32, Shape{lanes.packed_floats()});
  kernels::pack_narrow_group_weights(lanes, all.data<float>(), packed.mutable_data<float>());
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv, ConvGroups::kTaken); !reason.empty()) return reason;
  if (conv.is_depthwise) return "every channel has a group of its own";
  if (conv.groups == 1) return "it has only one group";
  const NarrowGroupConv lanes = lanes_of(conv);
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.add_input(p.node().input(0), Layout::channels_last());
  const UnalignedTensor& weights = *p.input_constant(1);
  b.add_constant(p.node().input(1)->name(), weights,
                 fmt::format("{} groups of {} x {} taps in lanes", lanes.groups, lanes.inputs, lanes.taps),
                 [weights, lanes] { return pack(weights, lanes); });
  add_padded_bias(p.node().input(2), 1, kernels::narrow_group_bias_floats(lanes), b);
  b.add_output(p.region().output(), Layout::channels_last());
  b.write(conv_fields(conv));
  b.step.scratch_bytes = tiles_of(conv, p.config().threads).scratch_bytes();
  b.estimate = estimate_seconds(2.0 * static_cast<double>(conv.size.m) * static_cast<double>(conv.size.n) *
                                    static_cast<double>(conv.size.k),
                                4.0 * static_cast<double>(lanes.packed_floats()), 0.4);
  write_tile_epilogue(p, p.region().epilogue, Layout::channels_last(), b);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "narrow_group_conv",
    .summary = "convolution in groups of several channels, an output channel in each lane, channels last",
    .version = 3,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_narrow_group_conv
