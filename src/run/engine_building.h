// Builds an engine by a user's options, for `run --trt` and `convert`, and runs it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/backend.h"
#include "assay/builder.h"
#include "run/calibration.h"
#include "run/data_loader.h"
#include "transform/io_types.h"

namespace assay {

/// One profile of the command line; inputs that it omits have the shapes of `input_shapes`.
struct ProfileShapes {
  std::vector<InputShape> min, opt, max;
};

struct EngineBuildOptions {
  BuilderConfig config;  ///< its profiles are created from the next two
  /// Change the network, one after the other, once it has its outputs (scripts that postprocess networks).
  std::vector<std::function<std::shared_ptr<const Model>(const Model& network)>> change_network;
  /// Changes all of this when the network is known (a configuration script); may be empty.
  std::function<void(const Model& network, EngineBuildOptions& options)> configure;
  /// Changes the configuration when it is complete, profiles included (a script that postprocesses it); may
  /// be empty.
  std::function<void(const Model& network, BuilderConfig& config)> change_config;
  /// With config.int8 and without a calibrator there.
  CalibrationOptions calibration;
  std::vector<ProfileShapes> profiles;
  /// For inputs that no profile names.
  std::vector<InputShape> input_shapes;
  /// Outputs of the network other than the model's.
  bool mark_all = false;
  std::optional<std::vector<std::string>> outputs, exclude_outputs;
  /// Also the outputs of layers of these TensorRT types; without `outputs` only these.
  std::vector<std::string> output_layer_types;
  /// Types of the engine's inputs and outputs, in place of the declared ones. An unknown name is an error, or
  /// a warning with config.skips_unknown_layers.
  std::vector<IoType> io_types;
  std::string load_timing_cache, save_timing_cache;  ///< paths; empty: none
  std::string save_tactics, load_tactics;
  std::string save_engine;
  size_t profile = 0;  ///< the profile of contexts
  bool explain = false;
  /// One of many builds of a search: what the log has to say of it is for those who ask for more.
  bool is_trial = false;
};

/// Builds an engine, with log lines in Polygraphy's format and progress on a terminal; reads and writes
/// timing cache and tactic replay by the options, but ignores save_engine. Throws Error.
std::shared_ptr<Engine> build_engine(const Runtime& runtime, const std::shared_ptr<const Model>& model,
                                     const EngineBuildOptions& options);

/// The input of a builder by these options: the network with its changes, and the configuration.
struct PreparedBuild {
  std::shared_ptr<const Model> network;
  BuilderConfig config;  ///< without timing cache and choice of tactics
};
PreparedBuild prepare_build(const std::shared_ptr<const Model>& model, const EngineBuildOptions& options);

/// The model with QuantizeLinear and DequantizeLinear, as Builder::quantized_network() makes it of the same
/// options, with log lines and progress as build_engine(). Throws Error.
std::shared_ptr<Model> quantize_model(const Runtime& runtime, const std::shared_ptr<const Model>& model,
                                      const EngineBuildOptions& options);

}  // namespace assay
