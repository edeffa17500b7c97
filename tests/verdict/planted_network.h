// A network in which faults of narrow types are planted, and the results of its engines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arbiter/arbiter.h"
#include "assay/builder.h"
#include "run/calibration.h"

namespace assay::planted {

using Scales = std::map<std::string, float>;

/// With every value an output.
std::shared_ptr<Model> marked(const Model& model);

/// With the values of another model as its outputs, as far as it has them.
std::shared_ptr<Model> marked_as(const Model& model, const Model& other);

/// Of an engine. Nothing is timed: the first tactic that fits is taken.
StoredTensorList results_of(const std::shared_ptr<Model>& model, const std::vector<Tensor>& feed,
                            BuilderConfig config);

/// One network, and what its engines are built and judged by.
struct Network {
  std::string name;
  std::shared_ptr<Model> model;  ///< every value an output
  std::vector<Tensor> feed;
  Scales scales;
  std::map<std::string, Tensor> values;  ///< of an engine in float32
  std::vector<std::string> outputs;      ///< of the network

  explicit Network(const std::string& template_name);
  std::string cache(const Scales& changed) const { return CalibrationTable{.scales = changed}.str(); }
  /// The step that shows all of a value.
  float step_of(const std::string& value) const;
  bool has_floats(const Value* v) const;
};

}  // namespace assay::planted
