// Convolution in groups of several channels, channels last: vectors of output channels, rows that are read
// where they lie.
#include <numeric>

#include "engine/runtime/arena.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/product/tiled_product.h"
#include "engine/tactics/tactic_list.h"
#include "kernels/image_rows.h"
#include "kernels/narrow_group_conv/narrow_group_conv.h"

namespace assay::engine::tactic_narrow_group_conv {
namespace {

using kernels::NarrowGroupConv;

constexpr std::string_view kOperators[] = {"Conv"};

/// Rows of a tile, and the bytes of its sums: both stay in the first-level caches beside the weights.
constexpr int64_t kMaxRows = 48, kSumBytes = 32 << 10;

NarrowGroupConv lanes_of(const ConvProduct& conv) {
  return {.groups = conv.groups,
          .inputs = conv.in_channels / conv.groups,
          .outputs = conv.size.n / conv.groups,
          .taps = conv.window.taps()};
}

/// A pixel of padding lies behind the places of the pixels that a tile's rows see.
int64_t padding_at(const NarrowGroupConv& lanes, int64_t rows) {
  return static_cast<int64_t>(align_up(static_cast<size_t>(rows * lanes.taps) * sizeof(const float*)));
}

ProductTiles tiles_of(const ConvProduct& conv, int threads) {
  const NarrowGroupConv lanes = lanes_of(conv);
  ProductTiles t = product_tiles(conv.size, 0, kMaxRows, threads, 1, kSumBytes);
  // Blocks of columns hold whole groups and whole blocks of weights.
  const int64_t unit = std::lcm(lanes.unit(), ProductTiles::kColumns);
  t.columns = (t.columns + unit - 1) / unit * unit;
  t.column_blocks = (conv.size.n + t.columns - 1) / t.columns;
  t.groups = std::min(t.groups, t.column_blocks);
  t.chunks = std::min<int64_t>(threads, t.row_tiles * t.groups);
  t.left_bytes = static_cast<int64_t>(align_up(
      static_cast<size_t>(padding_at(lanes, t.rows) + lanes.in_channels() * int64_t{sizeof(float)})));
  t.sum_bytes = static_cast<int64_t>(align_up(static_cast<size_t>(t.rows * t.columns) * sizeof(float)));
  return t;
}

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

class LaneKernel final : public TiledProduct {
 public:
  LaneKernel(const StepReader& r, ConvProduct conv, const ProductTiles& tiles)
      : TiledProduct(r, conv.size, tiles, TileEpilogue(r, 3, conv.size, tiles)),
        lanes_(lanes_of(conv)),
        window_(std::move(conv.window)) {
    const size_t last = window_.rank() - 1;
    if (window_.kernel[last] == 3 && window_.strides[last] == 1 && window_.dilations[last] == 1)
      line_ = window_.out[last];
    r.product({lanes_.taps, lanes_.inputs, conv.size.n + kernels::kNarrowGroupBlock * lanes_.groups});
    r.check_elements(r.row_input(1), {lanes_.packed_floats()});
    r.optional_elements(2, {kernels::narrow_group_bias_floats(lanes_)});
  }

 private:
  const void* gather(const KernelArgs& args, int64_t first, int64_t count,
                     void* scratch) const noexcept override {
    const auto* const x = static_cast<const float*>(args.inputs[0]);
    auto* const padding = reinterpret_cast<float*>(static_cast<char*>(scratch) + padding_at(lanes_, count));
    const int64_t channels = lanes_.in_channels();
    std::fill_n(padding, channels, 0.0F);
    auto* const pixels = static_cast<const float**>(scratch);
    const size_t last = window_.rank() - 1;
    const int64_t length = window_.out[last], step = window_.strides[last];
    const auto pixels_before = [step](int64_t distance) {
      return distance <= 0 ? 0 : (distance + step - 1) / step;
    };
    for (int64_t row = 0; row < count;) {  // line by line of the result
      const int64_t some = std::min(count - row, length - (first + row) % length);
      const kernels::Positions position(window_, first + row);
      kernels::for_tap_rows(window_, position, [&](int64_t tap, int64_t element) {
        for (int64_t t = 0; t < window_.kernel[last]; ++t) {
          const int64_t at = position.start(last) + t * window_.dilations[last];
          const int64_t inside = element < 0 ? some : std::min(some, pixels_before(-at)),
                        behind = std::clamp(pixels_before(window_.in[last] - at), inside, some);
          const float** const to = pixels + (tap + t) * count + row;
          std::fill(to, to + inside, padding);
          for (int64_t i = inside; i < behind; ++i) to[i] = x + (element + at + i * step) * channels;
          std::fill(to + behind, to + some, padding);
        }
      });
      row += some;
    }
    return scratch;
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    const bool direct = finish().is_plain();
    auto* const sums = direct ? reinterpret_cast<float*>(finish().result(args, tile.row, tile.column))
                              : static_cast<float*>(tile.sums);
    const int64_t stride = direct ? size().n : tile.stride;
    kernels::narrow_group_products(lanes_, static_cast<const float*>(args.inputs[1]),
                                   static_cast<const float* const*>(tile.left), tile.rows, tile.column,
                                   tile.columns, static_cast<const float*>(args.inputs[2]), sums, stride,
                                   {line_, line_ == 0 ? 0 : tile.row % line_});
    if (!direct) finish().run(args, tile.row, tile.rows, tile.column, tile.columns, sums, stride, tile.spare);
  }

  NarrowGroupConv lanes_;
  kernels::Window window_;
  int64_t line_ = 0;  ///< pixels of a line of the result, where each sees three neighbours of a line; else 0
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  r.input(0);
  ConvProduct conv = read_conv_product(r, ConvGroups::kTaken);
  StepReader::check(!conv.is_depthwise && conv.groups > 1, "it has no groups of several channels");
  const ProductTiles tiles = tiles_of(conv, plan.threads);
  return std::make_unique<LaneKernel>(r, std::move(conv), tiles);
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
