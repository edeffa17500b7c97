// Convolution and transposed convolution as a product for every tap, channels last: no gathered rows, and
// nothing is computed of padding.
#include <array>

#include "engine/runtime/arena.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/product/tiled_product.h"
#include "engine/tactics/tactic_list.h"
#include "graph/read.h"
#include "kernels/kn2row_conv/kn2row_conv.h"
#include "ops/nn/conv_rules.h"

namespace assay::engine::tactic_kn2row_conv {
namespace {

using kernels::Kn2rowConv;

constexpr std::string_view kOperators[] = {"Conv", "ConvTranspose"};

/// Results of a tile, whose sums and pixels stay in the second-level cache beside the weights.
constexpr int64_t kMaxResults = 192, kTapSumBytes = 64 << 10;
/// Results of a part: a long row is cut, so that threads can share it.
constexpr int64_t kMaxOfPart = 96;

struct StepFields {
  bool transposed = false;

  void fields(FieldVisitor& visit) { visit("transposed", transposed); }
};

/// With the sizes around it.
struct TapProduct {
  Kn2rowConv conv;
  ProductSize size;  ///< results of all images, output channels, depth

  kernels::PanelMatrix matrix() const { return {size.n, size.k}; }
  int64_t row() const { return conv.result().back(); }
  int64_t rows() const { return size.m / row(); }
  /// Results of all parts of a row but the last.
  int64_t part() const {
    // Tiles of six rows fill the registers, also where a tap adds to every stride-th result.
    const int64_t unit = 6 * (conv.transposed ? conv.window.strides.back() : 1),
                  pieces = (row() + kMaxOfPart - 1) / kMaxOfPart, even = (row() + pieces - 1) / pieces;
    return pieces == 1 ? row() : std::min(row(), (even + unit - 1) / unit * unit);
  }
  int64_t parts_of_row() const { return (row() + part() - 1) / part(); }
  int64_t last_part() const { return row() - (parts_of_row() - 1) * part(); }
  /// The product whose rows are parts.
  ProductSize parts() const { return {rows() * parts_of_row(), size.n, size.k}; }
};

ProductTiles tiles_of(const TapProduct& product, int threads) {
  const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t parts = product.parts().m, panels = product.matrix().panels(), part = product.part();
  ProductTiles t;
  t.row_tiles = ceil_div(parts, std::clamp<int64_t>(kMaxResults / part, 1, kernels::kMaxKn2rowParts));
  // Threads share the parts evenly, or the columns where one tile has all parts: then every weight is read
  // once.
  const bool share_columns = t.row_tiles == 1 && panels >= 2 * threads;
  if (parts >= threads && !share_columns) t.row_tiles = ceil_div(t.row_tiles, threads) * threads;
  t.rows = ceil_div(parts, std::min(parts, t.row_tiles));
  t.row_tiles = ceil_div(parts, t.rows);
  int64_t per_block =
      std::clamp<int64_t>(kTapSumBytes / (t.rows * part * kernels::kPanelColumns * 4), 1, panels);
  if (t.row_tiles < threads) {
    t.groups = std::min<int64_t>(ceil_div(threads, t.row_tiles), panels);
    per_block = std::min(per_block, ceil_div(panels, t.groups));
  }
  if (per_block > kernels::kPanelGroup) per_block = per_block / kernels::kPanelGroup * kernels::kPanelGroup;
  t.columns = per_block * kernels::kPanelColumns;
  t.column_blocks = ceil_div(panels, per_block);
  t.groups = std::min(t.groups, t.column_blocks);
  t.chunks = std::min<int64_t>(threads, t.row_tiles * t.groups);
  t.sum_bytes =
      static_cast<int64_t>(align_up(static_cast<size_t>(t.rows * part * t.columns) * sizeof(float)));
  return t;
}

/// Returns why not, or nothing.
std::string read_product(const Problem& p, TapProduct& product) {
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  if (is_op(p.node(), "Conv")) {
    ConvProduct conv;
    if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
    if (conv.is_depthwise) return "every channel has a group of its own";
    bool moves = false;
    for (const int64_t s : conv.window.strides) moves = moves || s > 1;
    if (conv.window.taps() == 1 && !moves) return "it has one tap, and its pixels lie as a matrix does";
    product = {{std::move(conv.window), false, conv.in_channels}, conv.size};
    return {};
  }
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

class TapKernel final : public TiledProduct {
 public:
  TapKernel(const StepReader& r, TapProduct product, const ProductTiles& tiles)
      : TiledProduct(
            r, product.parts(), tiles,
            TileEpilogue(r, 3, product.size, std::array{product.part(), product.last_part()}, tiles.columns)),
        product_(std::move(product)),
        matrix_(product_.matrix()) {
    r.product({matrix_.k, matrix_.panels(), kernels::kPanelColumns * 4});
    r.check_elements(r.row_input(1, DType::kUInt8), {matrix_.bytes()});
    r.optional_elements(2, {matrix_.panels(), kernels::kPanelColumns});
  }

 private:
  const void* gather(const KernelArgs& args, int64_t, int64_t, void*) const noexcept override {
    return args.inputs[0];
  }

  void compute(const KernelArgs& args, const Tile& tile) const noexcept override {
    const int64_t in_row = product_.parts_of_row(), part = product_.part();
    std::array<kernels::Kn2rowPart, kernels::kMaxKn2rowParts> parts;
    for (int64_t p = 0; p < tile.rows; ++p) {
      const int64_t number = tile.row + p, of_row = number % in_row;
      parts[static_cast<size_t>(p)] = {number / in_row, of_row * part,
                                       of_row + 1 < in_row ? part : product_.last_part()};
    }
    const float* const bias =
        args.inputs[2] == nullptr ? nullptr : static_cast<const float*>(args.inputs[2]) + tile.column;
    auto* const sums = static_cast<float*>(tile.sums);
    kernels::kn2row_products(product_.conv, matrix_, static_cast<const float*>(args.inputs[1]),
                             tile.column / kernels::kPanelColumns,
                             (tile.columns + kernels::kPanelColumns - 1) / kernels::kPanelColumns,
                             static_cast<const float*>(args.inputs[0]), parts.data(), tile.rows, bias, sums,
                             part * tile.stride, tile.stride);
    for (int64_t p = 0; p < tile.rows; ++p) {
      const kernels::Kn2rowPart& at = parts[static_cast<size_t>(p)];
      finish().run(args, at.row * product_.row() + at.first, at.count, tile.column, tile.columns,
                   sums + p * part * tile.stride, tile.stride, tile.spare);
    }
  }

  TapProduct product_;
  kernels::PanelMatrix matrix_;
};

std::unique_ptr<Kernel> create(const Plan& plan, const Step& step) {
  const StepReader r = read_panel_step(plan, step);
  r.input(0);
  ConvProduct conv = read_conv_product(r);
  StepReader::check(!conv.is_depthwise, "its channels have groups of their own");
  const bool transposed = r.read<StepFields>().transposed;
  if (transposed) std::swap(conv.window.in, conv.window.out);
  TapProduct product{{std::move(conv.window), transposed, conv.in_channels}, conv.size};
  const ProductTiles tiles = tiles_of(product, plan.threads);
  return std::make_unique<TapKernel>(r, std::move(product), tiles);
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
