// Convolution to few channels, as dot products along those of the image: from channels last or blocks of 16
// to row-major planes.
#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/conv/few_output_conv_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_few_output_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

/// Of an image: fewer fill no vector.
constexpr int64_t kMinChannels = 8;

Tensor pack(const UnalignedTensor& weights, const FewOutputConv& conv) {
  const Tensor all = weights.aligned();
  Tensor packed = Tensor::allocate(DType::kFloat32, Shape{conv.packed_floats()});
  kernels::pack_few_output_conv(conv, all.data<float>(), packed.mutable_data<float>());
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32 || p.output_dtype(0) != DType::kFloat32)
    return "the input or the result is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  if (conv.is_depthwise) return "every channel has a group of its own";
  if (conv.size.n > kernels::kMaxFewOutputs) return "the result has more than a few channels";
  if (conv.in_channels < kMinChannels) return "the image has too few channels";
  if (conv.window.rank() > 2) return "it has three spatial axes";
  if (std::string reason = common_epilogue_refusal(p, conv); !reason.empty()) return reason;
  for (const Layout layout : window_layouts(p, *p.input_shape(0))) {
    const FewOutputConv size = few_output_conv(conv, layout);
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0), layout);
    const UnalignedTensor& weights = *p.input_constant(1);
    b.add_constant(p.node().input(1)->name(), weights, fmt::format("dots of {} taps", size.window.taps()),
                   [weights, size] { return pack(weights, size); });
    add_padded_bias(p.node().input(2), 1, size.outputs, b);
    b.add_output(p.region().output());
    b.write(conv_fields(conv));
    write_common_end(p, {}, b);
    const auto results = static_cast<double>(conv.size.m) * static_cast<double>(conv.size.n);
    b.estimate = estimate_seconds(2 * results * static_cast<double>(conv.size.k),
                                  4 * static_cast<double>(p.input_shape(0)->numel()), 0.3);
  }
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "few_output_conv",
    .summary =
        "convolution to up to 8 channels as dot products, from channels last or blocks of 16 to row-major",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_few_output_conv
