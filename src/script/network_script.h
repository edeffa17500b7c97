// Scripts that create networks and engine configurations with TensorRT's objects
// (docs/guide/network-scripts.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/graph.h"
#include "script/item.h"
#include "script/reference.h"

namespace assay::script {

/// The result of a network script.
struct RecordedNetwork {
  std::shared_ptr<Model> model;
  std::vector<std::string> unused;  ///< unsupported requests, a sentence each
};

inline constexpr const char* kNetworkFunction = "load_network";
inline constexpr const char* kConfigFunction = "load_config";
inline constexpr const char* kNetworkPostprocessFunction = "postprocess";
inline constexpr const char* kConfigPostprocessFunction = "postprocess_config";

/// Runs a Python script that creates a network. Throws Error (kInvalidArgument) naming script, function and
/// line; a violation of ONNX's rules names the node.
RecordedNetwork run_network_script(const Reference& reference, const std::string& interpreter = {});
/// Lets a script change a network.
RecordedNetwork run_network_postprocess_script(const Reference& reference, const Model& network,
                                               const std::string& interpreter = {});

/// The configuration that a script creates for a network: the dictionary of docs/guide/network-scripts.md.
/// Same errors.
Item run_config_script(const Reference& reference, const Model& network, const std::string& interpreter = {});
/// Lets a script change a configuration.
Item run_config_postprocess_script(const Reference& reference, const Model& network, const Item& config,
                                   const std::string& interpreter = {});

}  // namespace assay::script
