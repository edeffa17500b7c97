// What 8 bits cost, layer by layer, over the data that a network is calibrated with.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/builder.h"
#include "debug/accuracy_goal.h"
#include "run/engine_building.h"

namespace assay::debug {

/// A product that is computed in 8 bits, or was held back.
struct LayerCost {
  std::string layer;  ///< name of the ONNX node
  std::string op_type;
  /// Signal to noise of its result in 8 bits on its exact input; infinite without an error.
  double decibels = 0;
  double saturated = 0;    ///< share of the numbers of its input that are beyond the range
  double error_share = 0;  ///< of the outputs' squared errors that the layers cause one by one
  int64_t multiply_adds = 0;
  double seconds_gained = 0;  ///< of a run against float32, as the builder's own costs have it
  bool is_held = false;       ///< it stays in float32
};

struct QuantizationCost {
  std::vector<LayerCost> layers;  ///< the largest share of the error first
  Accuracy all_lowered;           ///< with every layer in 8 bits: the worst set of inputs and output
  std::optional<AccuracyGoal> goal;
  Accuracy answer;        ///< with those that are held back in float32
  size_t sets = 0;        ///< of inputs
  bool is_timed = false;  ///< seconds_gained are measured, not estimated
};

/// Only floating-point outputs count.
class QuantizationStudy {
 public:
  /// Calibrates, and builds what it needs. `options` are those of the build that it is about; their data are
  /// read several times. All must outlive it. Throws Error as switch_layers(), and (kInvalidArgument) without
  /// data or floating-point outputs.
  QuantizationStudy(const Runtime& runtime, std::shared_ptr<const Model> model,
                    const EngineBuildOptions& options,
                    std::function<void(const std::string&)> on_progress = {});
  ~QuantizationStudy();

  /// Every layer's part; nothing is held back.
  QuantizationCost measure();
  /// Holds back the layers with the largest shares, as few as meet the goal.
  void hold_back(QuantizationCost& cost, const AccuracyGoal& goal);
  /// Holds so many more of them back. False: there are none.
  static bool hold_more(QuantizationCost& cost, size_t count);
  /// Of an engine of the same network, over the data.
  Accuracy accuracy_of(const std::shared_ptr<Engine>& engine);

  /// The scales that were found, as the text of a calibration cache.
  std::string scales() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The names of the layers that are held back.
std::vector<std::string> held_layers(const QuantizationCost& cost);

/// A table of at most `most` layers.
std::string cost_text(const QuantizationCost& cost, size_t most);
std::string cost_csv(const QuantizationCost& cost);
std::string cost_json(const QuantizationCost& cost);

}  // namespace assay::debug
