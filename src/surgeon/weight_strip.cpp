#include "surgeon/weight_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "analysis/sparsity.h"
#include "base/name_pattern.h"
#include "base/python_repr.h"
#include "graph/initializer_data.h"
#include "naming/selector.h"
#include "onnx/tensor_data.h"
#include "ops/node_facts.h"
#include "ops/op_set.h"

namespace assay {
namespace {

using WeightSet = std::unordered_set<const Value*>;

/// Smaller constants of Gather, Slice and operators outside the standard are parameters, not weights.
constexpr int64_t kMinElements = 1024;

bool is_product(const Node& n, const Model& model) {
  return facts_of(n, model).product == ProductFact::kFloats;
}

std::vector<std::string_view> product_names(const Model& model) {
  std::vector<std::string_view> names;
  for (const OpDef* op : ops_of(model).all())
    if (op->facts.product == ProductFact::kFloats) names.push_back(op->name);
  return names;
}

bool is_standard(const Node& n, std::string_view op_type) { return n.domain.empty() && n.op_type == op_type; }

/// True when a node with `holds` uses the output as an operand, as the first one if `first_only`.
template <typename Predicate>
bool feeds(const Node& n, Predicate holds, bool first_only) {
  const Value* out = n.output(0);
  return out != nullptr && std::any_of(out->consumers().begin(), out->consumers().end(), [&](const Node* c) {
           return holds(*c) && (!first_only || c->input(0) == out);
         });
}

bool feeds_product(const Node& n, const Model& model) {
  return feeds(
      n, [&](const Node& to) { return is_product(to, model); }, false);
}

bool is_quantized_operand(const Node& quantize, const Model& model) {
  return feeds(
      quantize, [&](const Node& n) { return is_standard(n, "DequantizeLinear") && feeds_product(n, model); },
      true);
}

/// The number of leading inputs of a node that are weights.
size_t weight_inputs(const Node& n, const Model& model) {
  const bool unknown = !n.domain.empty() || find_op(n, model) == nullptr;
  if (unknown || is_product(n, model) || is_standard(n, "Gather")) return n.inputs().size();
  if (is_standard(n, "Slice")) return 1;
  if (is_standard(n, "Transpose")) return feeds_product(n, model) ? 1 : 0;
  if (is_standard(n, "QuantizeLinear")) return is_quantized_operand(n, model) ? 1 : 0;
  return 0;
}

bool is_large_enough(const Node& n, const Value& v, const Model& model) {
  const int64_t count = known_shape(v.type.dims.value_or(Dims())).value_or(Shape()).numel();
  const bool is_operand =
      is_product(n, model) || is_standard(n, "Transpose") || is_standard(n, "QuantizeLinear");
  return count >= (is_operand ? 1 : kMinElements);
}

bool can_be_stripped(const Value& v) {
  const TensorSource* source = v.tensor_source();
  if (source != nullptr && source->is_sparse) return false;
  return v.type.dtype != DType::kUInt8 && v.type.dtype != DType::kString && !is_weightless(v);
}

WeightSet find_weights(const Model& model, const WeightSet& kept) {
  const Graph& g = *model.graph;
  WeightSet found;
  for (const auto& n : g.nodes())
    for (size_t i = 0; i < weight_inputs(*n, model); ++i) {
      const Value* v = n->input(i);
      if (v != nullptr && v->is_constant() && &v->graph() == &g && can_be_stripped(*v) &&
          is_large_enough(*n, *v, model) && !kept.contains(v))
        found.insert(v);
    }
  return found;
}

/// The constants that a spec names; nothing when there is none.
std::vector<const Value*> find_constants(Model& model, const std::string& spec) {
  std::vector<const Value*> found;
  try {
    for (const Value* v : select_values(model, spec))
      if (v->is_constant()) found.push_back(v);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kNotFound) throw;
  }
  return found;
}

void tell_of_unknown_names(const Graph& g, const std::vector<std::string>& specs, WeightObserver& told) {
  if (specs.empty()) return;
  std::vector<std::string> known;
  for (const auto& v : g.values())
    if (v->is_constant()) known.push_back(v->name());
  std::string unknown, hints;
  for (const std::string& spec : specs) {
    unknown += (unknown.empty() ? "" : ", ") + python_str_repr(spec);
    if (const std::string hint = spec_hint(spec, known); !hint.empty()) hints += " " + hint;
  }
  told.on_unknown_names(unknown, hints);
}

void mark_model(Model& model) {
  const std::string mark(onnx::kWeightlessMark);
  if (model.doc_string.find(mark) != std::string::npos) return;
  model.doc_string += (model.doc_string.empty() ? "" : "-") + mark;
}

}  // namespace

int64_t strip_weights(Model& model, const std::set<std::string>& excluded, WeightObserver* observer) {
  WeightObserver none;
  WeightObserver& told = observer != nullptr ? *observer : none;
  told.on_strip_begin();
  const SparsityReport sparsity = check_sparsity(model, told);
  WeightSet sparse;
  for (size_t i = 0; i < sparsity.is_sparse.size(); ++i)
    if (sparsity.is_sparse[i]) sparse.insert(sparsity.targets.eligible[i].weight);
  WeightSet kept;
  std::vector<std::string> unknown;
  for (const std::string& spec : excluded) {
    const std::vector<const Value*> found = find_constants(model, spec);
    if (found.empty()) unknown.push_back(spec);
    kept.insert(found.begin(), found.end());
  }
  const WeightSet weights = find_weights(model, kept);
  for (const auto& v : model.graph->values()) {
    if (!weights.contains(v.get())) continue;
    told.on_strip(*v);
    strip_data(*v, fmt::format("{}/{}", onnx::kWeightlessMark, sparse.contains(v.get()) ? "SPARSE_2_4" : ""));
  }
  tell_of_unknown_names(*model.graph, unknown, told);
  if (weights.empty())
    told.on_nothing_to_strip(product_names(model));
  else
    mark_model(model);
  told.on_strip_end(weights.size());
  return static_cast<int64_t>(weights.size());
}

}  // namespace assay
