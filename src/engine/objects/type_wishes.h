// Converts a builder's type requests for layers to rules (TypeRules).
#pragma once

#include <functional>
#include <string>

#include "assay/builder_config.h"
#include "engine/plan/plan.h"
#include "engine/plan/type_rules.h"

namespace assay {

/// The requests of the network's own records (analysis/held_types.h) and of the configuration, by name.
/// Throws Error: see BuilderConfig::layer_types.
engine::TypeRules type_rules_of(const Model& network, const BuilderConfig& config,
                                const std::function<void(const std::string&)>& warn);

/// See Builder::type_summary().
std::string type_summary_of(const engine::Plan& plan);

}  // namespace assay
