// Options of `assay bench`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/backend_set.h"
#include "assay/builder.h"
#include "bench/feed.h"
#include "bench/io_formats.h"
#include "bench/shapes.h"

namespace assay::bench {

/// The level of detail about an engine's layers.
enum class LayerDetail : uint8_t { kNone, kNames, kAll };

struct Options {
  // The thing to run: a plan, an ONNX model, or both: then the plan is for the engine, the model for the
  // other backends.
  std::string model, plan;
  const BackendSet* backend_set = &built_in_backends();
  std::vector<std::string> backends = {"engine"};  ///< `engine:2`: one built at optimization level 2
  SessionOptions session;
  std::vector<ProfileShapes> profiles;
  size_t profile = 0;
  std::vector<ShapeSet> shapes;  ///< a row each
  InputFiles inputs;
  std::vector<IoFormat> input_formats, output_formats;

  // How the engine is built. Profiles, timing cache and progress are filled in from the rest.
  BuilderConfig build;
  std::string timing_cache, save_plan;
  bool skips_inference = false;
  bool refits = false;      ///< the engine gets the weights of an ONNX model
  std::string refit_model;  ///< which; empty: `model`
  /// If an engine is built without weights, the plan is saved so, and the engine runs with the model's.
  bool must_refit() const { return refits || (build.strips_weights && plan.empty() && !skips_inference); }
  bool times_refit = false;

  // How runs are measured.
  double warm_up = 0.2, duration = 3, idle = 0, sleep = 0;  ///< seconds
  int64_t iterations = 10, streams = 1;
  bool is_recorded = false;

  // The reports to write. The files are of the first row; `json` has all.
  int64_t average_runs = 10;
  std::vector<double> percentiles = {90, 95, 99};
  LayerDetail detail = LayerDetail::kAll;
  bool is_verbose = false;  ///< the build logs its choices
  bool explains = false, dumps_profile = false, dumps_layers = false, dumps_output = false,
       dumps_weights = false, dumps_profiles = false, dumps_roofline = false;
  bool keeps_profile = false;  ///< times of layers are in the result, whether or not they are shown
  std::string export_times, export_profile, export_layers, export_output, export_timeline, json;
};

}  // namespace assay::bench
