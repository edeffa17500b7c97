// Convolution of row-major images of few channels, a network's first layer: each element of the image is
// multiplied with vectors of the result's channels.
#include <algorithm>

#include "engine/tactics/conv/channel_window.h"
#include "engine/tactics/conv/image_conv_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_image_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

/// Channels of an image beyond which the other layouts fill vectors with them.
constexpr int64_t kMaxPlanes = 4;

Tensor pack(const UnalignedTensor& weights, const ImageConv& conv) {
  const Tensor all = weights.aligned();
  Tensor packed = Tensor::allocate(DType::kFloat32, Shape{conv.packed_floats()});
  kernels::pack_channel_blocks(conv.window.channels, conv.taps(), all.data<float>(),
                               packed.mutable_data<float>());
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32 || p.output_dtype(0) != DType::kFloat32)
    return "the input or the result is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  if (conv.is_depthwise || conv.in_channels > kMaxPlanes) return "the image has more than a few channels";
  if (conv.window.rank() > 2) return "it has three spatial axes";
  if (!all_finite(p, *p.input_constant(1))) return "a weight is infinite or NaN, and would meet padding";
  if (std::string reason = common_epilogue_refusal(p, conv); !reason.empty()) return reason;
  for (const Layout layout : window_layouts(p, *p.output_shape(0))) {
    const ImageConv size = image_conv(conv, layout);
    Candidate& b = proposals.add(layout.str(), NumericsClass::kReassociated);
    b.add_input(p.node().input(0));
    const UnalignedTensor& weights = *p.input_constant(1);
    b.add_constant(p.node().input(1)->name(), weights, fmt::format("image of {} taps", size.taps()),
                   [weights, size] { return pack(weights, size); });
    add_padded_bias(p.node().input(2), 1, size.window.bias_floats(), b);
    b.add_output(p.region().output(), layout);
    b.write(conv_fields(conv));
    b.write(StepFields{.threads = p.config().threads});
    b.step.scratch_bytes = p.config().threads * size.scratch_floats() * int64_t{sizeof(float)};
    write_common_end(p, layout, b);
    const auto results =
        static_cast<double>(conv.size.m) * static_cast<double>(size.window.blocks() * kernels::kChannelBlock);
    b.estimate = estimate_seconds(2 * results * static_cast<double>(conv.size.k), 0, 0.9);
  }
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "image_conv",
    .summary = "convolution of row-major images of up to four channels, to channels last or in blocks of 16",
    .version = 2,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_image_conv
