// Convolution by 3x3 windows with stride 1 after Winograd, channels last or in blocks of them: fewer
// multiplications for more rounding. Tiles of 2x2 stay within what a plain sum is expected to err; those of
// 4x4 do where so many channels are summed up that the sums' own rounding outweighs that of the transforms.
// Infinities and NaN would spread over a tile, so tiles that hold some are computed as they are defined.
#include <algorithm>

#include "engine/tactics/conv/winograd_conv_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_winograd_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

Tensor pack(const UnalignedTensor& weights, const WinogradSize& size) {
  const Tensor all = weights.aligned();
  const kernels::PanelMatrix matrix = matrix_of(size);
  static_assert(kernels::kPanelColumns == kernels::kWinogradOutputs);
  const bool is_whole = size.out_channels % kernels::kPanelColumns == 0;  // no columns to fill up with zeros
  Tensor packed = is_whole ? Tensor::allocate(DType::kUInt8, Shape{size.points() * matrix.bytes()})
                           : Tensor::zeros(DType::kUInt8, Shape{size.points() * matrix.bytes()});
  auto* const to = reinterpret_cast<float*>(packed.mutable_data());
  const auto* const from = all.data<float>();
  const int64_t panel_floats = matrix.panel_bytes() / 4, point_floats = matrix.bytes() / 4;
  parallel_for(matrix.panels(), 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const int64_t column = p * kernels::kPanelColumns;
      kernels::transform_winograd_weights(size, from, column,
                                          std::min(kernels::kPanelColumns, size.out_channels - column),
                                          to + p * panel_floats, kernels::kPanelColumns, point_floats);
    }
  });
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv, ConvGroups::kTaken); !reason.empty()) return reason;
  if (std::string reason = form_refusal(conv); !reason.empty()) return reason;
  if (!all_finite(p, *p.input_constant(1))) return "a weight is infinite or NaN";
  const auto add = [&](int64_t m, Layout layout, DType in, DType out) {
    const bool reads = in != DType::kUndefined, stores = out != DType::kUndefined;
    const WinogradSize size = size_of(conv, m, layout);
    const kernels::PanelMatrix matrix = matrix_of(size);
    const bool rounds_little = m == 2 || size.group_inputs() >= kernels::kWinogradLargeTileChannels;
    Candidate& b = proposals.add(
        fmt::format("{0}x{0}{1}{2}{3}", m, layout.is_blocked() ? " " + layout.str() : "",
                    reads ? "_reads" : "", stores ? "_stores" : ""),
        rounds_little && !reads && !stores ? NumericsClass::kReassociated : NumericsClass::kLowered);
    b.add_input(p.node().input(0), {layout, in});
    const UnalignedTensor& weights = *p.input_constant(1);
    b.add_constant(p.node().input(1)->name(), weights, fmt::format("Winograd {0}x{0} in panels", m),
                   [weights, size] { return pack(weights, size); });
    add_padded_bias(p.node().input(2), 1, matrix.filled_columns(), b);
    b.add_output(p.region().output(), {layout, out});
    b.write(conv_fields(conv));
    b.write(StepFields{.m = m});
    b.step.scratch_bytes = tiles_of(size, p.config().threads).product.scratch_bytes();
    const ProductSize product = product_of(size);
    // Of groups, transforms cost as much as the products of some more inputs.
    constexpr double kTransformInputs = 24;
    const double inputs = static_cast<double>(product.k),
                 share = size.groups == 1 ? 1 : inputs / (inputs + kTransformInputs);
    b.estimate = estimate_with_weights(
        2.0 * static_cast<double>(size.points()) * static_cast<double>(product.m) *
            static_cast<double>(matrix.filled_columns()) * static_cast<double>(product.k),
        static_cast<double>(size.points() * matrix.bytes()), (m == 2 ? 0.58 : 0.55) * share);
    if (reads || stores) b.estimate *= 1.02;  // conversions, of which others have the gain
    write_tile_epilogue(p, p.region().epilogue, {layout, out}, b);
  };
  const DType own = DType::kUndefined, narrow = DType::kBFloat16;
  for (const Layout layout : product_layouts(p, conv))
    for (const int64_t m : {2, 4}) add(m, layout, own, own);
  // Images between products of bfloat16 may be stored so: this one still computes in float32.
  if (!p.stores_bfloat16()) return {};
  const bool reads = may_be_stored_in(p, p.node().input(0), narrow),
             stores = may_be_stored_in(p, p.region().output(), narrow);
  for (const int64_t m : {2, 4})
    if (reads || stores) add(m, Layout::channels_last(), reads ? narrow : own, stores ? narrow : own);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "winograd_conv",
    .summary = "3x3 convolution with stride 1, dilated or not, after Winograd, channels last or in blocks",
    .version = 12,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_winograd_conv
