// Runners of a run.
#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "poly/run_parts.h"
#include "run/script_parts.h"

namespace assay::poly {
namespace {

using OpenSession = decltype(RunRunner::open);

/// Texts that BackendInfo refers to must be there before it.
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
  const char *name, *prefix, *human_name;
};
constexpr Shipped kShipped[] = {{"tensorflow", "tf-runner", "TensorFlow"},
                                {"pytorch", "pytorch-runner", "PyTorch"}};

}  // namespace

RunnerChoice runner_choice(const RunRunner& runner, const BackendSet& backends,
                           const EngineBuildOptions& building, bool is_plan) {
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
    if (runner.backend == s.name)
      return script_runner(script::shipped_runner(s.name), s.prefix, s.human_name, runner.options);
  const auto open = [building](const ModelSource& source, const SessionOptions& session) {
    return open_engine_session(source, session, building);
  };
  if (runner.backend == kTensorRtRole)
    return {.backend = &backends.get("engine"),
            .prefix = "trt-runner",
            .human_name = "TensorRT",
            .open = open,
            .note = "run by the engine of assay, not by TensorRT"};
  const Backend& backend = backends.get(runner.backend);
  return {.backend = &backend,
          .prefix = std::string(backend.runner_prefix),
          .human_name = std::string(backend.human_name),
          .open = is_plan && backend.name == "engine" ? open : decltype(RunnerChoice::open)()};
}

}  // namespace assay::poly
