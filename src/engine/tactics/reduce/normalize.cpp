// Layer, RMS and instance normalization through a vector kernel over rows.
#include "analysis/match.h"
#include "engine/tactics/reduce/normalize_kernel.h"
#include "engine/tactics/tactic_list.h"
#include "passes/region.h"

namespace assay::engine::tactic_normalize {
namespace {

/// A list: each says in its own way what its rows are, below.
constexpr std::string_view kOperators[] = {"LayerNormalization", "RMSNormalization", "InstanceNormalization",
                                           "assay.LayerNorm", "assay.RmsNorm"};

/// Rows, and what they are scaled and shifted by.
struct Rows {
  Normalization n;
  const Value* scale = nullptr;
  const Value* shift = nullptr;
};

Rows rows_of(const Problem& p) {
  const Node& node = p.node();
  const Shape& shape = *p.input_shape(0);
  Rows rows;
  size_t axis;
  if (is_region(node, kLayerNorm)) {
    axis = shape.size() - static_cast<size_t>(int_attribute(node, "axes", 1));
    const bool has_scale = int_attribute(node, "has_scale", 0) != 0,
               has_shift = int_attribute(node, "has_shift", 0) != 0;
    if (has_scale) rows.scale = node.input(1);
    if (has_shift) rows.shift = node.input(has_scale ? 2 : 1);
    rows.n.epsilon = static_cast<float>(float_attribute(node, "epsilon", 0));
  } else if (is_region(node, kRmsNorm)) {
    axis = shape.size() - static_cast<size_t>(int_attribute(node, "axes", 1));
    rows.scale = node.input(1);
    rows.n.epsilon = static_cast<float>(float_attribute(node, "epsilon", 0));
    rows.n.subtract_mean = false;
  } else {
    rows.scale = node.input(1);
    rows.shift = node.input(2);
    rows.n.epsilon = static_cast<float>(p.attributes().attr_float("epsilon"));
    const bool instance = node.op_type == "InstanceNormalization";
    axis = instance ? 2 : static_cast<size_t>(normalize_axis(p.attributes().attr_int("axis"), shape.rank()));
    rows.n.subtract_mean = node.op_type != "RMSNormalization";
    if (instance) {
      rows.n.per = Normalization::Per::kRow;
      rows.n.period = shape[1];
    }
  }
  rows.n.rows = shape.numel(0, axis);
  rows.n.columns = shape.numel(axis, shape.size());
  return rows;
}

std::string supports(const Problem& p) {
  const Shape* shape = p.input_shape(0);
  if (shape == nullptr) return "the shape is not known before the run";
  if (p.input_dtype(0) != DType::kFloat32 || p.output_dtype(0) != DType::kFloat32)
    return "the values are not float32";
  if (shape->numel() == 0) return "the result is empty";
  for (size_t i = 1; i < p.output_count(); ++i)
    if (p.node().output(i) != nullptr) return "mean or deviation is wanted too";
  const Rows rows = rows_of(p);
  const int64_t wanted = rows.n.per == Normalization::Per::kRow ? rows.n.period : rows.n.columns;
  for (const Value* v : {rows.scale, rows.shift}) {
    if (v == nullptr) continue;
    const Shape* s = p.shape(v);
    if (s == nullptr || s->numel() != wanted || v->type.dtype != DType::kFloat32)
      return "scale or shift is not one float32 per normalised element";
  }
  return {};
}

/// `in`, `out`: what the rows and the result are stored in; kUndefined: float32.
void add_candidate(const Problem& p, DType in, DType out, Proposals& proposals) {
  const bool reads = in != DType::kUndefined, stores = out != DType::kUndefined;
  Candidate& b = proposals.add(reads && stores ? "bfloat16"
                               : reads         ? "bfloat16_reads"
                               : stores        ? "bfloat16_stores"
                                               : "",
                               reads || stores ? NumericsClass::kLowered : NumericsClass::kReassociated);
  const Rows rows = rows_of(p);
  b.add_input(p.node().input(0), {Layout(), in});
  rows.scale != nullptr ? b.add_input(rows.scale) : b.skip_input();
  rows.shift != nullptr ? b.add_input(rows.shift) : b.skip_input();
  b.add_output(p.node().output(0), {Layout(), out});
  if (!reads && !stores) b.step.in_place.emplace_back(0, 0);
  b.write(StepFields{.rows = rows.n.rows,
                     .columns = rows.n.columns,
                     .epsilon = rows.n.epsilon,
                     .subtract_mean = rows.n.subtract_mean,
                     .period = rows.n.per == Normalization::Per::kRow ? rows.n.period : 0});
}

std::string propose(const Problem& p, Proposals& proposals) {
  if (std::string reason = supports(p); !reason.empty()) return reason;
  add_candidate(p, DType::kUndefined, DType::kUndefined, proposals);
  const Rows rows = rows_of(p);
  if (!p.stores_bfloat16() || rows.n.per == Normalization::Per::kRow || rows.n.columns > kMostNarrowColumns)
    return {};
  const bool reads = may_be_stored_in(p, p.node().input(0), DType::kBFloat16),
             stores = may_be_stored_in(p, p.node().output(0), DType::kBFloat16);
  if (stores) add_candidate(p, DType::kUndefined, DType::kBFloat16, proposals);
  if (reads) add_candidate(p, DType::kBFloat16, DType::kUndefined, proposals);
  if (reads && stores) add_candidate(p, DType::kBFloat16, DType::kBFloat16, proposals);
  return {};
}

}  // namespace

constinit const TacticDef def = {
    .name = "normalize",
    .summary = "normalisation of rows: layer, RMS, instance",
    .operators = kOperators,
    .propose = propose,
    .factory = {.create = create},
};

}  // namespace assay::engine::tactic_normalize
