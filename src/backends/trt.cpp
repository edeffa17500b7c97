// --trt: the built-in engine in TensorRT's role, built ahead of time by the builder's options.
#include "assay/builder.h"
#include "backends/backend_list.h"
#include "backends/engine_session.h"
#include "base/diagnostics.h"

namespace assay::backend_trt {
namespace {

class TrtBackend final : public Backend {
 public:
  using Backend::Backend;
  std::unique_ptr<Session> open(const ModelSource& source, const SessionOptions& options) const override {
    if (source.model == nullptr) return plan_session(source, options);
    const std::shared_ptr<Runtime> runtime = session_runtime(source, options);
    const std::shared_ptr<Engine> engine = options.build_engine
                                               ? options.build_engine(*runtime, source.model)
                                               : Builder(*runtime).build_engine(source.model);
    if (!options.save_engine.empty()) {
      diag::info("Saving engine to {}", options.save_engine);
      engine->save(options.save_engine);
    }
    return engine_session(runtime, engine, options.profile, source.model);
  }
};

constinit const TrtBackend kBackend({
    .name = "trt",
    .option = "trt",
    .runner_prefix = "trt-runner",
    .human_name = "TensorRT",
    .summary = "the role that TensorRT has in existing command lines: runs the engine of this build, or "
               "TensorRT itself "
               "where ASSAY_TENSORRT names a Python interpreter with its package (docs/guide/runners.md)",
    .loads_plans = true,
    .builds_engines = true,
    .note = "run by the engine of assay, not by TensorRT",
});

}  // namespace

constinit const Backend& def = kBackend;

}  // namespace assay::backend_trt
