#include "arbiter/asked.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/read.h"
#include "ops/moves.h"
#include "ops/op_set.h"
#include "tensor/convert.h"
#include "transform/kept_values.h"
#include "transform/value_range.h"

namespace assay {

std::string NarrowTypes::str() const {
  std::string text;
  const auto add = [&](bool is_asked, const char* name) {
    if (is_asked) text += (text.empty() ? "" : " and ") + std::string(name);
  };
  add(float16, "float16"), add(bfloat16, "bfloat16"), add(int8, "int8");
  return text;
}

std::string Asked::of(const Node* n) const {
  if (n == nullptr) return types.str();
  NarrowTypes own = types;
  own.int8 = lowering.int8.contains(n) || lowering.kept.contains(n);
  return own.str();
}

namespace {

/// A step may be so many times what the numbers need in comparison with those of other tensors: calibration
/// saw other data.
constexpr double kGrantedFactor = 2;

double largest(const Tensor& t) {
  double most = 0;
  if (!t.defined() || t.dtype() != DType::kFloat32) return most;
  for (const float x : t.span<float>())
    if (std::isfinite(x)) most = std::max(most, std::abs(static_cast<double>(x)));
  return most;
}

/// Whether a builder may compute it once for all.
bool is_made_once(const Value* v) {
  if (v == nullptr || v->is_constant()) return true;
  const Node* n = v->producer();
  return n != nullptr && !has_subgraph(*n) &&
         std::ranges::all_of(n->inputs(), [](const Value* v) { return is_made_once(v); });
}

bool may_be_quantised(const Node& n) {
  if (!is_op(n, "Conv") && !is_op(n, "Gemm") && !is_op(n, "MatMul")) return false;
  const Value *x = n.input(0), *w = n.input(1);
  return x != nullptr && w != nullptr && !is_made_once(x) && is_made_once(w) &&
         leaf_dtype(w->type) == DType::kFloat32;
}

/// The tensor whose step a tensor has: itself, or whose numbers it holds; null for one that has none.
const std::string* scaled_name(const Model& model, const Value& v,
                               const std::map<std::string, float>& scales) {
  for (const Value* at = &v; at != nullptr;) {
    if (const auto it = scales.find(at->name()); it != scales.end()) return &it->first;
    const Node* n = at->producer();
    const OpDef* op = n == nullptr ? nullptr : ops_of(model).find(n->domain, n->op_type);
    if (op == nullptr || !moves_elements(*op)) break;  // a builder does that before, or leaves it out
    at = n->input(0);
  }
  return nullptr;
}

/// How many times the step that shows a tensor's largest number the step is that it has; 0: not known.
using StepRatios = std::map<std::string, double>;

StepRatios step_ratios(const NarrowTypes& types, const std::function<Tensor(const std::string&)>& own) {
  StepRatios ratios;
  for (const auto& [name, step] : types.scales)
    if (const double needed = largest(own(name)) / kInt8Levels; needed > 0 && step > 0)
      ratios[name] = static_cast<double>(step) / needed;
  return ratios;
}

double median(const StepRatios& ratios) {
  std::vector<double> sorted;
  for (const auto& [name, ratio] : ratios) sorted.push_back(ratio);
  if (sorted.empty()) return 1;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
  return sorted[sorted.size() / 2];
}

/// What only such products read may be kept in 8 bits; step(v) of a value: 0: it has none.
template <typename Step>
void add_kept(const Model& model, const NarrowTypes& types, const Step& step, Lowering& lowering) {
  std::vector<const Node*> nodes;
  for (const auto& n : model.graph->nodes()) nodes.push_back(n.get());
  const KeptValues kept(
      model, nodes,
      {.has_scale = [&](const Value* v) { return step(*v).size != 0; },
       .stays_float = [&](const Node& n) { return types.float_nodes.contains(n.name); },
       .reads_8_bits = [&](const Node& c,
                           const Value* v) { return lowering.int8.contains(&c) && c.input(0) == v; }});
  for (const Node* n : nodes)
    if (n->outputs().size() == 1 && n->output(0) != nullptr && kept.contains(n->output(0)))
      lowering.kept[n] = step(*n->output(0));
}

}  // namespace

Asked read_asked(const Model& model, const NarrowTypes& types,
                 const std::function<Tensor(const std::string&)>& own) {
  Asked asked{.types = types, .lowering = {}};
  if (types.float16) asked.lowering.u = unit_roundoff(DType::kFloat16);
  if (types.bfloat16) asked.lowering.u = unit_roundoff(DType::kBFloat16);
  if (!types.int8) return asked;
  constexpr double kLargestNumber = std::numeric_limits<double>::quiet_NaN();
  const StepRatios ratios = step_ratios(types, own);
  const double most = kGrantedFactor * std::max(1.0, median(ratios));
  const auto step = [&](const std::string& name) {
    if (types.scales.empty()) return kLargestNumber;
    const auto it = types.scales.find(name);
    if (it == types.scales.end()) return 0.0;
    const auto ratio = ratios.find(name);
    return static_cast<double>(it->second) /
           (ratio == ratios.end() ? 1 : std::max(1.0, ratio->second / most));
  };
  std::vector<const Node*> nodes;
  for (const auto& n : model.graph->nodes()) nodes.push_back(n.get());
  const FunctionSources sources(model, nodes);
  ValueRanges ranges(model, sources);
  // Of numbers that do not go far below zero a builder makes it smaller.
  const auto step_within = [&](const std::string& name, const Value& v) {
    const double symmetric = step(name);
    if (std::isnan(symmetric) || symmetric == 0) return ByteStep(symmetric);
    const Quantization q = quantization_within(static_cast<float>(symmetric), ranges.of(v).low);
    return ByteStep(q.scale, symmetric * kInt8Levels);
  };
  for (const auto& n : model.graph->nodes()) {
    if (!may_be_quantised(*n) || types.float_nodes.contains(n->name)) continue;
    if (types.scales.empty()) {
      asked.lowering.int8[n.get()] = kLargestNumber;
      continue;
    }
    const Value& read = *KeptValues::scaled(n->input(0), types.scales, KeptValues::Through::kSplit);
    const std::string* tensor = scaled_name(model, read, types.scales);
    if (tensor == nullptr || types.scales.at(*tensor) == 0) continue;
    asked.lowering.int8[n.get()] = step_within(*tensor, read);
    if (types.known_levels && asked.lowering.u == 0) {
      const Quantization q = quantization_within(types.scales.at(*tensor), ranges.of(read).low);
      asked.lowering.levels[n.get()] = {q.scale, q.zero_point};
    }
  }
  add_kept(
      model, types,
      [&](const Value& v) {
        const Value& of = *KeptValues::scaled(&v, types.scales, KeptValues::Through::kSplitAndPool);
        return step_within(of.name(), of);
      },
      asked.lowering);
  return asked;
}

}  // namespace assay
