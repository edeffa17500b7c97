// ChannelWindow convolution in vectors of channels, channels last or in blocks of 16: rows of images that are
// read in place, and epilogues while the sums are in the caches.
#include <algorithm>

#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/conv/depthwise_conv_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_depthwise_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

Tensor pack(const UnalignedTensor& weights, const ChannelWindow& conv) {
  const Tensor all = weights.aligned();
  Tensor packed = Tensor::allocate(DType::kFloat32, Shape{conv.packed_floats()});
  kernels::pack_channel_blocks(conv.channels, conv.taps(), all.data<float>(), packed.mutable_data<float>());
  return packed;
}

/// Something as large as the result is added to it.
bool has_addend(const Problem& p, const ConvProduct& conv) {
  const EpilogueSpec spec = epilogue_spec(p, p.region().epilogue, Layout::channels_last(), 3);
  return common_epilogue(spec, conv.size.m, conv.size.n)->addend >= 0;
}

/// What the image and the result have in memory in another type than float32.
struct Narrow {
  DType image = DType::kUndefined, result = DType::kUndefined;

  bool reads() const { return image != DType::kUndefined; }
  bool stores() const { return result != DType::kUndefined; }
  bool any() const { return reads() || stores(); }
  std::string_view suffix() const {
    if (!any()) return "";
    return reads() && stores() ? "_bfloat16" : reads() ? "_bfloat16_reads" : "_bfloat16_stores";
  }
};

void add_candidate(const Problem& p, const ConvProduct& conv, Layout layout, const Narrow& narrow,
                   Proposals& proposals) {
  const ChannelWindow size = channel_window(conv.window, conv.size.n, layout);
  Candidate& b = proposals.add(layout.str() + std::string(narrow.suffix()),
                               narrow.any() ? NumericsClass::kLowered : NumericsClass::kReassociated);
  b.add_input(p.node().input(0), {layout, narrow.image});
  const UnalignedTensor& weights = *p.input_constant(1);
  b.add_constant(p.node().input(1)->name(), weights, fmt::format("windows of {} taps", size.taps()),
                 [weights, size] { return pack(weights, size); });
  add_padded_bias(p.node().input(2), 1, size.bias_floats(), b);
  b.add_output(p.region().output(), {layout, narrow.result});
  b.write(conv_fields(conv));
  write_common_end(p, layout, b);
  const auto results = static_cast<double>(conv.size.m) * static_cast<double>(conv.size.n);
  b.estimate = estimate_seconds(2 * results * static_cast<double>(conv.size.k), 0, 0.8);
  if (narrow.any()) b.estimate *= 1.02;  // conversions, of which others have the gain
}

void propose_bfloat16(const Problem& p, const ConvProduct& conv, Proposals& proposals) {
  const Layout last = Layout::channels_last();
  if (!p.stores_bfloat16() || has_addend(p, conv) ||
      !fits_narrow_buffer(channel_window(conv.window, conv.size.n, last)))
    return;
  Narrow narrow;
  if (may_be_stored_in(p, p.node().input(0), DType::kBFloat16)) narrow.image = DType::kBFloat16;
  if (may_be_stored_in(p, p.region().output(), DType::kBFloat16)) narrow.result = DType::kBFloat16;
  if (narrow.any()) add_candidate(p, conv, last, narrow, proposals);
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32 || p.output_dtype(0) != DType::kFloat32)
    return "the input or the result is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  if (!conv.is_depthwise) return "its groups are not single channels";
  if (conv.window.rank() > 2) return "it has three spatial axes";
  if (!all_finite(p, *p.input_constant(1))) return "a weight is infinite or NaN, and would meet padding";
  if (std::string reason = common_epilogue_refusal(p, conv); !reason.empty()) return reason;
  for (const Layout layout : window_layouts(p, *p.input_shape(0)))
    add_candidate(p, conv, layout, {}, proposals);
  propose_bfloat16(p, conv, proposals);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "depthwise_conv",
    .summary = "depthwise convolution in vectors of channels, channels last or in blocks of 16",
    .version = 3,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_depthwise_conv
