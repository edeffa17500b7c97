// Building engines: the objects of TensorRT's builder, with their names and duties.
#pragma once

#include <memory>
#include <string>

#include "assay/api.h"
#include "assay/builder_config.h"
#include "assay/runtime.h"

namespace ASSAY_API assay {

namespace engine {
class PlanBuilder;
struct SavedEngine;
}  // namespace engine

/// Makes engines.
class Builder {
 public:
  explicit Builder(const Runtime& runtime);

  /// The network is not changed; the engine shares the data that it needs. Throws Error naming the node,
  /// input or option: kUnsupported for what no tactic runs, kInvalidModel, kInvalidArgument for a config that
  /// contradicts the network.
  std::shared_ptr<Engine> build_engine(const std::shared_ptr<const Model>& network,
                                       const BuilderConfig& config = {}) const;
  /// The float32 network with QuantizeLinear and DequantizeLinear where an engine of this config would
  /// compute in 8 bits, for other runtimes: by the scales of config.calibrator; what float_nodes and
  /// layer_types hold in float32 stays as it is. Batch normalizations behind convolutions are folded into
  /// them, calls of functions inlined, and a model below opset 13 is converted to it. type_summary() then
  /// says what became of the products. Throws Error as build_engine(), and (kInvalidArgument) for a network
  /// that is quantized, or without a calibrator.
  std::shared_ptr<Model> quantized_network(const std::shared_ptr<const Model>& network,
                                           const BuilderConfig& config) const;
  /// Calls build_engine() and Engine::serialize().
  std::string build_serialized_network(const std::shared_ptr<const Model>& network,
                                       const BuilderConfig& config = {}) const;

  /// For --explain: each region of the last engine with its candidates, their times, and why the others were
  /// refused.
  const std::string& explanation() const { return explanation_; }
  /// For --verbose: the edits that passes made to the last engine's network, and the memory of its plans.
  const std::string& summary() const { return summary_; }
  /// One line: how many layers of the last engine compute in each type, and why others stayed in float32.
  /// Empty where only float32 was allowed.
  const std::string& type_summary() const { return type_summary_; }

 private:
  std::shared_ptr<Engine> lazy_engine(const std::shared_ptr<const Model>& network, engine::SavedEngine saved,
                                      std::unique_ptr<engine::PlanBuilder> builder) const;

  std::shared_ptr<Runtime::State> runtime_;
  mutable std::string explanation_, summary_, type_summary_;
};

}  // namespace assay
