// Convolution with weights that the model stores in 2, 4 or 8 bits, which become float32 panel by panel.
#include "analysis/stored_weights.h"
#include "engine/tactics/conv/nbits_conv_kernel.h"
#include "engine/tactics/conv/panel_conv_kernel.h"
#include "engine/tactics/product/panel_product.h"
#include "engine/tactics/tactic_list.h"

namespace assay::engine::tactic_nbits_conv {
namespace {

constexpr std::string_view kOperators[] = {"Conv"};

kernels::NbitsPanels panels_of(const ConvProduct& conv, const QuantizedConstant& w, const StoredGrid& g) {
  return {.n = conv.size.n,
          .k = conv.size.k,
          .bits = bit_width(w.stored.dtype()),
          .grid = {g.part, g.rows, g.columns, g.is_same_in_parts}};
}

/// The element of the weights, [outputs, inputs, taps], in this row and column of the matrix.
struct WeightPlaces {
  int64_t inputs, taps;

  int64_t of(int64_t k, int64_t column) const { return (column * inputs + k % inputs) * taps + k / inputs; }
};

Tensor pack_levels(const QuantizedConstant& w, const kernels::NbitsPanels& m, const WeightPlaces& places) {
  const std::vector<int64_t> numbers = w.stored.to_int64();
  Tensor packed = Tensor::zeros(DType::kUInt8, Shape{m.panels(), m.panel_bytes()});
  uint8_t* const bytes = packed.mutable_data<uint8_t>();
  const int64_t each = m.rows_of_byte(), least = least_number(w);
  parallel_for(m.panels(), 1, [&](int64_t first, int64_t last) {
    for (int64_t column = first * kernels::kPanelColumns;
         column < std::min(last * kernels::kPanelColumns, m.n); ++column) {
      uint8_t* const to =
          bytes + column / kernels::kPanelColumns * m.panel_bytes() + column % kernels::kPanelColumns;
      for (int64_t k = 0; k < m.k; ++k) {
        uint8_t& byte = to[k / each * kernels::kPanelColumns];
        const auto level = static_cast<int>(numbers[static_cast<size_t>(places.of(k, column))] - least);
        byte = static_cast<uint8_t>(byte | level << (k % each * m.bits));
      }
    }
  });
  return packed;
}

/// value(scale) for every block of the matrix, by the number of its scale.
template <typename T, typename Number>
Tensor per_block(DType dtype, const QuantizedConstant& w, const kernels::NbitsPanels& m,
                 const WeightPlaces& places, Number value) {
  Tensor t = Tensor::zeros(dtype, Shape{m.scale_elements()});
  auto* to = t.mutable_data<T>();
  for (int64_t row = 0; row < m.scale_rows(); ++row)
    for (int64_t column = 0; column < m.scale_columns(); ++column) {
      const int64_t k = row / m.part_blocks() * m.grid.part + row % m.part_blocks() * m.grid.rows;
      *to++ = value(w.scale_of(places.of(k, column * m.grid.columns)));
    }
  return t;
}

void add_weights(const Problem& p, const QuantizedConstant& w, const kernels::NbitsPanels& m,
                 const WeightPlaces& places, Candidate& b) {
  const std::string& name = p.node().input(1)->name();
  const std::string packing = fmt::format("of {} in panels of {} of {} inputs x {} taps", name,
                                          kernels::kPanelColumns, places.inputs, places.taps);
  b.add_constant(name + "/levels", w.stored, "levels " + packing,
                 [w, m, places] { return pack_levels(w, m, places); });
  b.add_constant(name + "/scales", w.stored, "scales " + packing, [w, m, places] {
    return per_block<float>(DType::kFloat32, w, m, places, [&](size_t i) { return w.scale[i]; });
  });
  if (!has_zero_points(w)) return b.skip_input();
  b.add_constant(name + "/zeros", w.stored, "zeros " + packing, [w, m, places] {
    return per_block<uint8_t>(DType::kUInt8, w, m, places, [&](size_t i) {
      return static_cast<uint8_t>(w.zero_point[i] - least_number(w));
    });
  });
}

/// A way to multiply them.
struct Way {
  Layout layout;
  bool rounds = false;  ///< to bfloat16
  StoredRows stored = {};

  std::string name() const {
    const std::string products = rounds ? "bfloat16_products" + stored.name() : "";
    return products + (rounds && layout.is_blocked() ? " " : "") + (layout.is_blocked() ? layout.str() : "");
  }
};

/// Layout by layout, those in float32 first.
std::vector<Way> ways_of(const Problem& p, const ConvProduct& conv) {
  std::vector<Way> ways;
  for (const Layout layout : product_layouts(p, conv)) {
    ways.push_back({layout});
    if (!p.stores_bfloat16()) continue;
    for (const StoredRows& stored : stored_rows(p, p.node().input(0), p.region().output(), layout))
      ways.push_back({layout, true, stored});
  }
  return ways;
}

void add_candidate(const Problem& p, const ConvProduct& conv, const QuantizedConstant& w,
                   const kernels::NbitsPanels& m, const Way& way, Proposals& proposals) {
  const bool is_gathered = !tactic_panel_conv::is_pointwise(conv.window);
  Candidate& b =
      proposals.add(way.name(), way.rounds ? NumericsClass::kLowered : NumericsClass::kReassociated);
  b.reads_stored = true;
  if (way.rounds) b.arithmetic = DType::kBFloat16;
  b.add_input(p.node().input(0), {way.layout, way.stored.left});
  add_weights(p, w, m, {conv.in_channels, conv.window.taps()}, b);
  add_padded_bias(p.node().input(2), 1, m.filled_columns(), b);
  b.add_output(p.region().output(), {way.layout, way.stored.result});
  b.write(StepFields{.bits = m.bits, .grid = m.grid});
  b.write(PanelFields{.type = way.rounds ? "bfloat16" : "float32", .rounds = way.rounds});
  b.write(conv_fields(conv));
  b.step.scratch_bytes = tiles_of(conv.size, is_gathered, way.rounds, p.config().threads).scratch_bytes();
  b.estimate = estimate_seconds(2.0 * static_cast<double>(conv.size.m) *
                                    static_cast<double>(m.filled_columns()) * static_cast<double>(m.k),
                                static_cast<double>(m.panels() * m.panel_bytes()), way.rounds ? 1 : 0.5);
  b.estimate *= way.stored.share();
  write_tile_epilogue(p, p.region().epilogue, {way.layout, way.stored.result}, b);
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (!is_kept_stored(p.node().input(1))) return "the weights are not stored in a few bits for it alone";
  if (p.input_dtype(0) != DType::kFloat32) return "the input is not float32";
  ConvProduct conv;
  if (std::string reason = read_conv_product(p, conv); !reason.empty()) return reason;
  if (conv.is_depthwise) return "every channel has a group of its own";
  const QuantizedConstant* w = p.quantized_constant(p.node().input(1));
  if (w == nullptr) return "the weights are no longer what the model stores";
  const std::optional<StoredGrid> grid = stored_grid(*w);
  if (!grid) return "the scales take too much memory";
  for (const Way& way : ways_of(p, conv))
    add_candidate(p, conv, *w, panels_of(conv, *w, *grid), way, proposals);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "nbits_conv",
    .summary = "convolution with weights of 2, 4 or 8 bits, which become float32 in a thread's cache",
    .operators = kOperators,
    .takes_regions = true,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_nbits_conv
