// Runners of a run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "base/json_writer.h"
#include "base/wording.h"
#include "poly/run_parts.h"
#include "run/script_parts.h"

namespace assay::poly {
namespace {

using OpenSession = decltype(RunRunner::open);

/// Strings that BackendInfo refers to must be declared before it.
struct OwnedName {
  std::string name;
};

/// A function of the program's own.
class CustomBackend final : private OwnedName, public Backend {
 public:
  CustomBackend(std::string name, OpenSession open)
      : OwnedName{std::move(name)},
        Backend({.name = OwnedName::name,
                 .option = OwnedName::name,
                 .runner_prefix = OwnedName::name,
                 .human_name = OwnedName::name,
                 .summary = "a backend of the program's own"}),
        open_(std::move(open)) {}
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const override {
    return open_(source, options);
  }

 private:
  OpenSession open_;
};

RunnerChoice custom_choice(const RunRunner& runner) {
  const auto backend =
      std::make_shared<CustomBackend>(runner.name.empty() ? "custom" : runner.name, runner.open);
  RunnerChoice choice{.backend = backend.get(),
                      .prefix = std::string(backend->human_name) + "-runner",
                      .human_name = std::string(backend->human_name)};
  choice.owner = backend;
  return choice;
}

struct Shipped {
  const char *name, *prefix, *human_name, *flag;
};
constexpr Shipped kShipped[] = {{"tensorflow", "tf-runner", "TensorFlow", "tf"},
                                {"pytorch", "pytorch-runner", "PyTorch", "pytorch"},
                                {"tensorrt", "trt-runner", "TensorRT", "trt"}};

/// {"x": [1, 3]}: shapes for the runner of TensorRT.
std::string shapes_json(const std::vector<InputShape>& shapes) {
  std::string text;
  for (const InputShape& s : shapes) {
    std::vector<int64_t> extents;
    for (const Dim& d : s.dims) extents.push_back(d.is_known() ? d.value() : -1);
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_quoted(s.name), extents);
  }
  return "{" + text + "}";
}

/// The engine settings that the runner of TensorRT supports. Throws Error for others.
std::vector<std::pair<std::string, std::string>> tensorrt_options(const EngineBuildOptions& building) {
  const BuilderConfig& config = building.config;
  const BuilderConfig otherwise;
  const auto refuse = [](bool is_given, const char* what) {
    require(!is_given, ErrorCode::kUnsupported,
            "the runner for TensorRT has no setting for {}. Leave it out, or copy the runner and add it "
            "(docs/guide/runners.md)",
            what);
  };
  refuse(building.profiles.size() > 1, "several profiles");
  refuse(config.bf16, "bfloat16");
  refuse(config.int8, "8-bit integers");
  refuse(config.is_refittable || config.strips_weights, "refittable engines");
  refuse(config.optimization_level != otherwise.optimization_level, "the optimization level");
  refuse(!building.load_timing_cache.empty() || !building.save_timing_cache.empty() ||
             config.use_timing_cache_only,
         "timing caches");
  refuse(!building.load_tactics.empty() || !building.save_tactics.empty() ||
             !config.disabled_tactics.empty() || !config.pinned_tactics.empty(),
         "tactics");
  refuse(!config.layer_types.empty() || !building.io_types.empty(), "types of single layers and tensors");
  refuse(bool(building.configure) || bool(building.change_config) || !building.change_network.empty(),
         "scripts");
  refuse(building.mark_all || building.outputs || !building.output_layer_types.empty() ||
             building.exclude_outputs,
         say(Say::kMarkModelOutputs).c_str());
  refuse(building.profile != 0, "a choice of profiles");
  std::vector<std::pair<std::string, std::string>> options;
  if (config.fp16) options.emplace_back("fp16", "1");
  if (config.workspace_limit != otherwise.workspace_limit)
    options.emplace_back("workspace", std::to_string(config.workspace_limit));
  if (!building.profiles.empty()) {
    const ProfileShapes& p = building.profiles.front();
    options.emplace_back("min_shapes", shapes_json(p.min));
    options.emplace_back("opt_shapes", shapes_json(p.opt));
    options.emplace_back("max_shapes", shapes_json(p.max));
  } else if (!building.input_shapes.empty()) {
    options.emplace_back("opt_shapes", shapes_json(building.input_shapes));
  }
  if (!building.save_engine.empty()) options.emplace_back("save_engine", building.save_engine);
  return options;
}

}  // namespace

RunnerChoice runner_choice(const RunRunner& runner, const BackendSet& backends,
                           const EngineBuildOptions& building) {
  const int kinds = static_cast<int>(!runner.backend.empty()) + static_cast<int>(!runner.script.empty()) +
                    static_cast<int>(bool(runner.open));
  require(kinds == 1, ErrorCode::kInvalidArgument,
          "a runner has a backend, a script or a function that opens sessions: one of these, not {}", kinds);
  if (runner.open) return custom_choice(runner);
  if (!runner.script.empty()) {
    const script::RunnerReference reference = script::parse_runner(runner.script);
    return script_runner(reference, std::filesystem::path(reference.name).stem().string() + "-runner",
                         reference.str(), runner.options);
  }
  for (const Shipped& s : kShipped)
    if (runner.backend == s.name) {
      std::vector<std::pair<std::string, std::string>> options = runner.options;
      if (runner.backend == "tensorrt")
        for (auto& option : tensorrt_options(building)) options.push_back(std::move(option));
      return script_runner(script::shipped_runner(s.name), s.prefix, s.human_name, std::move(options),
                           s.flag);
    }
  const Backend& backend = backends.get(runner.backend);
  return {.backend = &backend,
          .prefix = std::string(backend.runner_prefix),
          .human_name = std::string(backend.human_name)};
}

}  // namespace assay::poly
