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

/// Tiles, and how image and result are stored.
struct Way {
  int64_t m = 2;
  Layout layout;
  DType image = DType::kUndefined, result = DType::kUndefined;

  bool reads() const { return image != DType::kUndefined; }
  bool stores() const { return result != DType::kUndefined; }
  std::string variant() const {
    return fmt::format("{0}x{0}{1}{2}{3}", m, layout.is_blocked() ? " " + layout.str() : "",
                       reads() ? "_reads" : "", stores() ? "_stores" : "");
  }
};

double estimate_of(const WinogradSize& size, const kernels::PanelMatrix& matrix, const Way& way) {
  const ProductSize product = product_of(size);
  // Of groups, transforms cost as much as the products of some more inputs.
  constexpr double kTransformInputs = 24;
  const double inputs = static_cast<double>(product.k),
               share = size.groups == 1 ? 1 : inputs / (inputs + kTransformInputs);
  const double seconds = estimate_with_weights(
      2.0 * static_cast<double>(size.points()) * static_cast<double>(product.m) *
          static_cast<double>(matrix.filled_columns()) * static_cast<double>(product.k),
      static_cast<double>(size.points() * matrix.bytes()), (way.m == 2 ? 0.58 : 0.55) * share);
  // Conversions, of which others have the gain.
  return way.reads() || way.stores() ? 1.02 * seconds : seconds;
}

void add_candidate(const Problem& p, const ConvProduct& conv, const Way& way, Proposals& proposals) {
  const WinogradSize size = size_of(conv, way.m, way.layout);
  const kernels::PanelMatrix matrix = matrix_of(size);
  const bool rounds_little = way.m == 2 || size.group_inputs() >= kernels::kWinogradLargeTileChannels;
  Candidate& b = proposals.add(way.variant(), rounds_little && !way.reads() && !way.stores()
                                                  ? NumericsClass::kReassociated
                                                  : NumericsClass::kLowered);
  b.add_input(p.node().input(0), {way.layout, way.image});
  const UnalignedTensor& weights = *p.input_constant(1);
  b.add_constant(p.node().input(1)->name(), weights, fmt::format("Winograd {0}x{0} in panels", way.m),
                 [weights, size] { return pack(weights, size); });
  add_padded_bias(p.node().input(2), 1, matrix.filled_columns(), b);
  b.add_output(p.region().output(), {way.layout, way.result});
  b.write(conv_fields(conv));
  b.write(StepFields{.m = way.m});
  b.step.scratch_bytes = tiles_of(size, p.config().threads).product.scratch_bytes();
  b.estimate = estimate_of(size, matrix, way);
  write_tile_epilogue(p, p.region().epilogue, {way.layout, way.result}, b);
}

/// Images between products of bfloat16 may be stored so: this one still computes in float32.
void propose_bfloat16(const Problem& p, const ConvProduct& conv, Proposals& proposals) {
  if (!p.stores_bfloat16()) return;
  Way way{.layout = Layout::channels_last()};
  if (may_be_stored_in(p, p.node().input(0), DType::kBFloat16)) way.image = DType::kBFloat16;
  if (may_be_stored_in(p, p.region().output(), DType::kBFloat16)) way.result = DType::kBFloat16;
  if (!way.reads() && !way.stores()) return;
  for (way.m = 2; way.m <= 4; way.m += 2) add_candidate(p, conv, way, proposals);
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv, ConvGroups::kTaken); !reason.empty()) return reason;
  if (std::string reason = form_refusal(conv); !reason.empty()) return reason;
  if (!all_finite(p, *p.input_constant(1))) return "a weight is infinite or NaN";
  for (const Layout layout : product_layouts(p, conv))
    for (const int64_t m : {2, 4}) add_candidate(p, conv, {.m = m, .layout = layout}, proposals);
  propose_bfloat16(p, conv, proposals);
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
