// Convolution and transposed convolution as a product for every tap, channels last: no gathered rows, and
// nothing is computed of padding.
#include <algorithm>
#include <array>

#include "engine/tactics/conv/kn2row_conv_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/product/tiled_product.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_kn2row_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv", "ConvTranspose"};

/// Returns why not, or nothing.
std::string read_conv(const Problem& p, TapProduct& product) {
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  if (conv.is_depthwise) return "every channel has a group of its own";
  const std::vector<int64_t>& strides = conv.window.strides;
  const bool moves = std::any_of(strides.begin(), strides.end(), [](int64_t s) { return s > 1; });
  if (conv.window.taps() == 1 && !moves) return "it has one tap, and its pixels lie as a matrix does";
  product = {{std::move(conv.window), false, conv.in_channels}, conv.size};
  return {};
}

/// Returns why not, or nothing.
std::string read_conv_transpose(const Problem& p, TapProduct& product) {
  const Shape *in = p.input_shape(0), *out = p.output_shape(0);
  if (p.region().result_transposed != nullptr) return "the result is transposed";
  if (in == nullptr || out == nullptr) return "the shape is not known before the run";
  if (p.input_constant(1) == nullptr) return "the weights are not constant";
  if (p.has_input(2) && p.input_constant(2) == nullptr) return "the bias is not constant";
  if (in->rank() < 3 || in->rank() > 5) return "only one to three spatial axes are supported";
  if (in->numel() == 0 || out->numel() == 0) return "the input or the result is empty";
  ConvPlan plan = plan_conv_transpose(p.attributes(), *in, p.input_constant(1)->shape());
  if (plan.size.groups > 1) return "it has groups";
  if (p.has_input(2) && p.input_constant(2)->numel() != plan.size.out_channels)
    return "the bias is not one number per channel";
  const int64_t k = plan.window.taps() * plan.size.in_channels;
  const int64_t m = plan.size.batch * plan.window.in_size();
  product = {{std::move(plan.window), true, plan.size.in_channels}, {m, plan.size.out_channels, k}};
  return tile_epilogue_refusal(p, p.region().epilogue);
}

/// Returns why not, or nothing.
std::string read_product(const Problem& p, TapProduct& product) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  return is_op(p.node(), "Conv") ? read_conv(p, product) : read_conv_transpose(p, product);
}

/// Rows for the channels of one tap after the other, a column for each output channel.
Tensor pack(const UnalignedTensor& weights, const TapProduct& product) {
  const Tensor all = weights.aligned();
  const auto* const from = all.data<float>();
  const kernels::PanelMatrix matrix = product.matrix();
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{matrix.bytes()});
  const int64_t channels = product.conv.channels, taps = product.conv.window.taps();
  if (!product.conv.transposed) {
    const std::vector<float> rows = taps_first(from, matrix.n, channels, taps);
    kernels::pack_panels(matrix, rows.data(), 1, matrix.k, packed.mutable_data());
    return packed;
  }
  // The transpose has its weights as [inputs, outputs, taps].
  std::vector<float> rows(static_cast<size_t>(all.numel()));
  parallel_for(channels, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      for (int64_t o = 0; o < matrix.n; ++o)
        for (int64_t t = 0; t < taps; ++t)
          rows[static_cast<size_t>((t * channels + i) * matrix.n + o)] = from[(i * matrix.n + o) * taps + t];
  });
  kernels::pack_panels(matrix, rows.data(), matrix.n, 1, packed.mutable_data());
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  TapProduct product;
  if (std::string reason = read_product(p, product); !reason.empty()) return reason;
  const kernels::PanelMatrix matrix = product.matrix();
  const kernels::Window& w = product.conv.window;
  Candidate& b = proposals.add({}, NumericsClass::kReassociated);
  b.add_input(p.node().input(0), Layout::channels_last());
  const UnalignedTensor& weights = *p.input_constant(1);
  b.add_constant(p.node().input(1)->name(), weights,
                 fmt::format("{}{} x {} taps in panels of {}", product.conv.transposed ? "transposed " : "",
                             product.conv.channels, w.taps(), kernels::kPanelColumns),
                 [weights, product] { return pack(weights, product); });
  add_padded_bias(p.node().input(2), 1, matrix.filled_columns(), b);
  b.add_output(p.region().output(), Layout::channels_last());
  b.write(StepFields{.transposed = product.conv.transposed});
  b.write(conv_fields({.window = w}));
  b.step.scratch_bytes = tiles_of(product, p.config().threads).scratch_bytes();
  const int64_t images = product.size.m / (product.conv.transposed ? w.in_size() : w.out_size());
  b.estimate = estimate_with_weights(2.0 * static_cast<double>(images * product.conv.products()) *
                                         static_cast<double>(product.conv.channels) *
                                         static_cast<double>(matrix.filled_columns()),
                                     static_cast<double>(matrix.bytes()), 0.55);
  write_tile_epilogue(p, p.region().epilogue, Layout::channels_last(), b);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "kn2row_conv",
    .summary = "convolution and its transpose as a product for every tap, channels last",
    .version = 4,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_kn2row_conv
