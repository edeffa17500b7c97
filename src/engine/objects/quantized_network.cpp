#include "engine/objects/quantized_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/held_types.h"
#include "graph/clone.h"
#include "graph/read.h"
#include "naming/origins.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"
#include "passes/raise_opset.h"
#include "transform/quantizable.h"

namespace assay {
namespace {

/// Those of the canonical form that decide what the weights of a product are.
constexpr const PassDef* kFolding[] = {&pass_constants_to_initializers::def, &pass_fold_constants::def,
                                       &pass_eliminate_identity::def,        &pass_fold_batch_norm::def,
                                       &pass_fold_channel_affine::def,       &pass_fuse_pad::def,
                                       &pass_eliminate_dead_code::def};

bool is_quantized_product(const Node& n) {
  return n.input(1) != nullptr && n.input(1)->producer() != nullptr &&
         is_op(*n.input(1)->producer(), "DequantizeLinear");
}

/// Why a product stays in float32.
std::string reason_of(const Node& n, const QuantizeReport& report) {
  std::string reason = engine::quantization_reason(n, report);
  if (!reason.empty()) return reason;
  return is_op(n, "Conv") ? "its weights are not constant" : "its right operand is not constant";
}

std::string summary_of(const Graph& g, const QuantizeReport& report) {
  size_t all = 0, quantized = 0;
  std::map<std::string, size_t> reasons;
  for (const auto& n : g.nodes()) {
    if (!is_quantizable(*n)) continue;
    ++all;
    is_quantized_product(*n) ? ++quantized : ++reasons[reason_of(*n, report)];
  }
  std::string text = fmt::format("{} of {} products in int8", quantized, all);
  if (quantized < all) text += fmt::format("; {} in float32", all - quantized);
  const char* before = ": ";
  for (const auto& [reason, count] : reasons) {
    text += fmt::format("{}{} {}", before, count, reason);
    before = ", ";
  }
  return text;
}

const Node* node_named(const Graph& g, const std::string& name) {
  for (const auto& n : g.nodes()) {
    const std::vector<std::string> origins = origins_of(*n);
    if (!is_beside(*n) && std::find(origins.begin(), origins.end(), name) != origins.end()) return n.get();
  }
  return nullptr;
}

/// Of requests for types other than float32, which a network in float32 and int8 cannot express unless the
/// node was quantized.
std::vector<engine::UnmetWish> unmet_of(const Graph& g, const engine::TypeRules& types,
                                        const QuantizeReport& report) {
  std::vector<engine::UnmetWish> unmet;
  for (const auto& [name, wish] : types.layers) {
    const Node* n = node_named(g, name);
    if (wish.dtype == DType::kFloat32 || n == nullptr || (!wish.is_exact && !is_quantizable(*n))) continue;
    if (wish.dtype != DType::kInt8)
      unmet.push_back({.name = name,
                       .wanted = wish.dtype,
                       .reason = "what is written has float32 and int8 only, a plan has other types, too"});
    else if (!is_quantizable(*n))
      unmet.push_back({.name = name,
                       .wanted = wish.dtype,
                       .reason = fmt::format("{} is not quantized, products are", n->op_type)});
    else if (!is_quantized_product(*n))
      unmet.push_back({.name = name, .wanted = wish.dtype, .reason = reason_of(*n, report)});
  }
  for (const auto& [name, wish] : types.tensors)
    if (wish.dtype != DType::kFloat32)
      unmet.push_back({.name = name,
                       .is_tensor = true,
                       .wanted = wish.dtype,
                       .reason = "types of stored tensors are those of a plan"});
  return unmet;
}

/// A zero point says nothing that its absence does not, but ONNX Runtime's precise mode for processors
/// without VNNI expects one.
void add_zero_points(Graph& g) {
  for (const auto& n : g.nodes()) {
    if (!is_op(*n, "DequantizeLinear") || n->input(2) != nullptr) continue;
    const Shape shape = n->input(1)->tensor().shape();
    n->set_inputs({n->input(0), n->input(1),
                   g.add_constant(g.unique_name(n->output(0)->name() + "/zero_point"),
                                  Tensor::zeros(DType::kInt8, shape))});
  }
}

}  // namespace

std::shared_ptr<Model> folded_network(const Model& network, const engine::TypeRules& types,
                                      std::shared_ptr<const PassSet> passes) {
  std::shared_ptr<Model> folded = clone_model(network);
  Model& model = *folded;
  const PassOptions pass_options{.set = std::move(passes)};
  infer_shapes(model);
  engine::mark_held(model, types);
  run_passes(model, passes_of(pass_options).stage(PassStage::kLowering), pass_options);
  engine::mark_held(model, types);
  if (raise_opset(model, kQuantizedOpset)) infer_shapes(model);
  run_passes(model, kFolding, pass_options);
  return folded;
}

QuantizedNetwork quantize_network(const Model& network, const QuantizeOptions& options,
                                  const engine::TypeRules& types, std::shared_ptr<const PassSet> passes) {
  QuantizedNetwork made{
      .model = folded_network(network, types, std::move(passes)), .report = {}, .unmet = {}, .summary = {}};
  Model& model = *made.model;
  made.report = quantize(model, options);
  add_zero_points(*model.graph);
  made.unmet = unmet_of(*model.graph, types, made.report);
  made.summary = summary_of(*model.graph, made.report);
  remove_held_types(model);
  remove_origins(model);
  return made;
}

}  // namespace assay
