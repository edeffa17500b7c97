#include "bench/check_options.h"

#include <algorithm>

#include "assay/error.h"
#include "base/wording.h"
#include "bench/backend_name.h"

namespace assay::bench {
namespace {

/// Which of the backends are engines.
struct Engines {
  int64_t count;
  bool others;  ///< there are backends that are none
};

Engines engines_among(const Options& o) {
  const auto count = std::count_if(o.backends.begin(), o.backends.end(), [&](const std::string& name) {
    return parse_backend_name(name, *o.backend_set).backend == kEngine;
  });
  return {count, static_cast<size_t>(count) < o.backends.size()};
}

void check_plan(const Options& o, const Engines& engines) {
  require(!o.model.empty() || !o.plan.empty(), ErrorCode::kInvalidArgument,
          "no model is given: name an ONNX model, or the plan of an engine");
  require(o.plan.empty() || engines.count > 0, ErrorCode::kInvalidArgument,
          "the plan {} is given, but no engine is among the backends that could run it", o.plan);
  require(o.plan.empty() || engines.count == 1, ErrorCode::kInvalidArgument,
          "a plan is one engine, so only one engine can be among the backends");
}

void check_refit(const Options& o, const Engines& engines) {
  if (!o.refits) return;
  require(engines.count > 0, ErrorCode::kInvalidArgument, "{}", say(Say::kRefitWithoutEngine));
  require(!o.model.empty() || !o.refit_model.empty(), ErrorCode::kInvalidArgument, "{}",
          say(Say::kRefitWithoutModel));
  require(!o.plan.empty() || o.build.is_refittable || o.build.strips_weights, ErrorCode::kInvalidArgument,
          "{}", say(Say::kRefitOfFixedEngine));
}

/// The plan is for an engine, the ONNX model for the other backends and for refitting.
void check_model_beside_plan(const Options& o, const Engines& engines) {
  require(o.model.empty() || o.plan.empty() || engines.others || o.refits, ErrorCode::kInvalidArgument,
          "both the ONNX model {} and the plan {} are given, and the plan has the network in it: {}", o.model,
          o.plan, say(Say::kModelAndPlan));
  require(!o.model.empty() || !engines.others, ErrorCode::kInvalidArgument,
          "only the engine runs plans: give the ONNX model too, for the other backends");
}

bool wants_layer_times(const Options& o) {
  return o.dumps_profile || o.dumps_roofline || !o.export_profile.empty() || !o.export_timeline.empty();
}

bool wants_layers(const Options& o) {
  return o.dumps_layers || !o.export_layers.empty() || !o.save_plan.empty();
}

}  // namespace

void check_options(const Options& o) {
  const Engines engines = engines_among(o);
  check_plan(o, engines);
  check_refit(o, engines);
  check_model_beside_plan(o, engines);
  require(engines.count > 0 || !wants_layer_times(o), ErrorCode::kInvalidArgument,
          "only the engine tells times of layers, and it is not among the backends");
  require(engines.count > 0 || !wants_layers(o), ErrorCode::kInvalidArgument,
          "only the engine has layers and plans, and it is not among the backends");
}

}  // namespace assay::bench
