// A network with the quantization that an engine would have, as ONNX.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/plan/type_rules.h"
#include "engine/planner/type_holds.h"
#include "passes/pass_set.h"
#include "transform/quantize.h"

namespace assay {

struct QuantizedNetwork {
  std::shared_ptr<Model> model;
  QuantizeReport report;
  std::vector<engine::UnmetWish> unmet;  ///< of `types`
  std::string summary;                   ///< how many products compute in 8 bits, and why the others do not
};

/// A copy of the network, quantized as PlanBuilder does, after those of its passes that give the products the
/// weights they are quantized with and leave standard operators. `passes`: null: the built-in ones.
QuantizedNetwork quantize_network(const Model& network, const QuantizeOptions& options,
                                  const engine::TypeRules& types, std::shared_ptr<const PassSet> passes);

/// The network that quantize_network() quantizes: a copy of the network after those passes, opset and types
/// changed as there, with the origins of its nodes and the types that they are held in.
std::shared_ptr<Model> folded_network(const Model& network, const engine::TypeRules& types,
                                      std::shared_ptr<const PassSet> passes);

}  // namespace assay
