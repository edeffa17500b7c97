// Finds scales for a network by running it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assay/builder_config.h"
#include "assay/runtime.h"
#include "base/thread_pool.h"
#include "transform/quantize.h"

namespace assay {

/// What calibrate() goes by.
struct CalibrationJob {
  std::shared_ptr<const Model> network;
  /// Builds an engine of a network in float32 for the profiles below.
  std::function<std::shared_ptr<Engine>(const std::shared_ptr<const Model>& network)> build_float32;
  Int8Calibrator* calibrator = nullptr;
  /// Of the engine that is calibrated; the last one has the shapes of the data.
  std::vector<OptimizationProfile> profiles;
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<const PassSet> passes;  ///< null: those of this build
  std::function<void(const std::string&)> warn;
  std::function<void(const BuildProgress&)> on_progress;  ///< may be empty
};

/// Whether a network says itself where it computes in 8 bits: it has a QuantizeLinear, a
/// DequantizeLinear or a QLinear operator.
bool is_quantized(const Model& network);

/// By what a network is quantized: the scales of the calibrator's cache, or those that calibrate() finds,
/// which are written there. Null, with a warning unless the network is quantized itself: nothing is. Throws
/// Error as calibrate(), for a cache that cannot be read, and (kNotFound) for a node that does not exist.
std::shared_ptr<const QuantizeOptions> quantization_for(const CalibrationJob& job,
                                                        const std::vector<std::string>& float_nodes);
/// Warns of tensors without scales, and where nothing is computed in 8 bits.
void report_quantization(const QuantizeReport& report, const CalibrationJob& job);

/// Runs the network in float32 over the calibrator's data and gives a scale for every float32 tensor of its
/// main graph that is not constant, functions inlined. One set of inputs is in memory at a time, with what
/// the network computes of it. Throws Error (kInvalidArgument) naming the set of inputs that does not fit,
/// and when there is none.
CalibrationTable calibrate(const CalibrationJob& job);

}  // namespace assay
