// --engine: the built-in engine as a backend, prepared for the shapes that occur.
#include "assay/builder.h"
#include "backends/backend_list.h"
#include "backends/engine_session.h"
#include "base/diagnostics.h"

namespace assay::backend_engine {
namespace {

std::unique_ptr<Session> open_network(const ModelSource& source, const SessionOptions& options) {
  const std::shared_ptr<Runtime> runtime = session_runtime(source, options);
  BuilderConfig config;
  config.optimization_level = 0;
  config.is_lazy = true;
  config.optimize = options.optimize;
  config.precision_constraints = PrecisionConstraints::kNone;
  return engine_session(runtime, Builder(*runtime).build_engine(source.model, config), 0, source.model);
}

constexpr BackendVariant kVariants[] = {{.name = "unoptimized",
                                         .summary = "the engine without optimising passes",
                                         .apply = [](SessionOptions& o) { o.optimize = false; }}};

class EngineBackend final : public Backend {
 public:
  using Backend::Backend;
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const override {
    if (source.model == nullptr) return plan_session(source, options);
    try {
      return open_network(source, options);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kUnsupported || !has_old_forms(*source.model)) throw;
      diag::warning("The engine evaluates this model as it is, operator by operator: {}", e.what());
      SessionOptions plain = options;
      plain.reference_precision = ReferencePrecision::kStored;
      return backend_reference::def.open(source, plain);
    }
  }
};

constinit const EngineBackend kBackend({
    .name = "engine",
    .option = "engine",
    .runner_prefix = "engine-runner",
    .human_name = "Engine",
    .summary = "our engine: the network optimised for this CPU, with a static memory plan",
    .loads_plans = true,
    .is_own = true,
    .variants = kVariants,
});

}  // namespace

constinit const Backend& def = kBackend;

}  // namespace assay::backend_engine
