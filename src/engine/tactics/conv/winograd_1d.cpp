// Convolution along one axis with stride 1 after Winograd, channels last: fewer multiplications for more
// rounding, which stays within what a plain sum of so many terms is expected to err. Infinities and NaN would
// spread over a tile, so tiles that hold some are computed as they are defined.
#include <array>

#include "engine/tactics/conv/winograd_1d_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_winograd_1d {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

/// Terms of a sum from which on its own rounding outweighs that of the transforms
/// (docs/internals/kernels.md).
constexpr int64_t kManyTerms = 96;

Tensor pack(const UnalignedTensor& weights, const Winograd1d& line) {
  const Tensor all = weights.aligned();
  Tensor packed = Tensor::allocate(DType::kUInt8, Shape{Winograd1d::kPoints * line.matrix().bytes()});
  kernels::pack_line_weights(line, all.data<float>(), reinterpret_cast<float*>(packed.mutable_data()));
  return packed;
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  Winograd1d line;
  if (std::string reason = read_line(conv, line); !reason.empty()) return reason;
  const UnalignedTensor& weights = *p.input_constant(1);
  if (!all_finite(p, weights)) return "a weight is infinite or NaN";
  Candidate& b = proposals.add(
      {}, line.taps * line.channels >= kManyTerms ? NumericsClass::kReassociated : NumericsClass::kLowered);
  b.add_input(p.node().input(0), Layout::channels_last());
  b.add_constant(p.node().input(1)->name(), weights,
                 fmt::format("Winograd of {} taps in panels of {}", line.taps, kernels::kPanelColumns),
                 [weights, line] { return pack(weights, line); });
  const kernels::PanelMatrix matrix = line.matrix();
  add_padded_bias(p.node().input(2), 1, matrix.filled_columns(), b);
  b.add_output(p.region().output(), Layout::channels_last());
  b.write(conv_fields(conv));
  b.step.scratch_bytes = tiles_of(line, p.config().threads).scratch_bytes();
  b.estimate = estimate_with_weights(2.0 * Winograd1d::kPoints * static_cast<double>(line.tiles()) *
                                         static_cast<double>(line.depth()) *
                                         static_cast<double>(matrix.filled_columns()),
                                     static_cast<double>(Winograd1d::kPoints * matrix.bytes()), 0.45);
  write_tile_epilogue(p, p.region().epilogue, Layout::channels_last(), b);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "winograd_1d",
    .summary = "convolution along one axis with stride 1, dilated or not, after Winograd, channels last",
    .version = 5,
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_winograd_1d
