// Finds scales for a network by running it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assay/builder_config.h"
#include "assay/runtime.h"
#include "base/thread_pool.h"
#include "engine/objects/calibration_statistics.h"
#include "transform/quantize.h"

namespace assay {

/// Options of calibrate().
struct CalibrationJob {
  std::shared_ptr<const Model> network;
  /// Builds an engine of a network in float32 for the profiles below.
  std::function<std::shared_ptr<Engine>(const std::shared_ptr<const Model>& network)> build_float32;
  Int8Calibrator* calibrator = nullptr;
  /// Of the engine that is calibrated; the last one has the shapes of the data.
  std::vector<OptimizationProfile> profiles;
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<const PassSet> passes;  ///< null: the built-in ones
  std::function<void(const std::string&)> warn;
  std::function<void(const BuildProgress&)> on_progress;  ///< may be empty
};

/// Builds an engine of a network by a configuration.
using BuildEngine = std::function<std::shared_ptr<Engine>(const std::shared_ptr<const Model>& network,
                                                          const BuilderConfig& config)>;
/// The job that a builder has by its configuration. All must outlive it.
CalibrationJob calibration_job(BuildEngine build, Runtime::State& runtime,
                               const std::shared_ptr<const Model>& network, const BuilderConfig& config);

/// True when a network defines its own quantization: it has a QuantizeLinear, a DequantizeLinear or a QLinear
/// operator.
bool is_quantized(const Model& network);

/// The quantization of a network: the scales of the calibrator's cache, or those of calibrate(), which are
/// written there. Null, with a warning unless the network defines its own quantization: none. Throws
/// Error as calibrate(), for a cache that cannot be read, and (kNotFound) for a selector in `float_nodes`
/// that fits no node.
std::shared_ptr<const QuantizeOptions> quantization_for(const CalibrationJob& job,
                                                        const std::vector<std::string>& float_nodes);
/// The names of the selected nodes. Throws Error (kNotFound) for a selector that fits none.
std::set<std::string> selected_names(const Model& network, const std::vector<std::string>& selectors);
/// Warns of tensors without scales, and if nothing is computed in 8 bits.
void report_quantization(const QuantizeReport& report, const CalibrationJob& job);

/// Runs the network in float32 on the calibrator's data and returns what it sees of every float32 tensor of
/// its main graph that is not constant, functions inlined; of no data nothing. One set of inputs is in memory
/// at a time, with its results. Throws Error (kInvalidArgument) naming an invalid set of inputs.
CalibrationStatistics calibration_statistics(const CalibrationJob& job);
/// The same of what a builder would calibrate by its configuration. Throws Error also for a network that is
/// quantized, and without a calibrator.
CalibrationStatistics calibration_statistics(const Runtime& runtime,
                                             const std::shared_ptr<const Model>& network,
                                             const BuilderConfig& config);

/// Runs the network in float32 on the calibrator's data and returns a scale for
/// every float32 tensor of its main graph that is not constant, functions inlined.
/// One set of inputs is in memory at a time, with its results. Throws Error
/// (kInvalidArgument) naming an invalid set of inputs, and when there is none.
CalibrationTable calibrate(const CalibrationJob& job);

}  // namespace assay
