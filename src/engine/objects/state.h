// The state of the public objects.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assay/runtime.h"
#include "base/thread_pool.h"
#include "engine/plan/plan_file.h"
#include "engine/specialize/specializer.h"
#include "engine/target/target.h"

namespace assay {

struct Runtime::State {
  std::shared_ptr<ThreadPool> pool;
  std::shared_ptr<const engine::Target> target;  ///< never null
  RuntimeOptions options;

  std::string timing_environment() const;
  void warn(const std::string& sentence) const;
};

/// Settings of all plans on this runtime.
engine::BuildConfig base_config(const Runtime::State& runtime);

struct Engine::State {
  std::shared_ptr<Runtime::State> runtime;
  /// The loaded or built content; `model` and `plans` change when weights are refitted.
  engine::SavedEngine saved;
  std::vector<IoTensor> io;
  size_t input_count = 0;
  /// The choices of its build, with what was refused; empty for one that was loaded.
  std::vector<engine::RegionReport> choices;

  mutable std::mutex mutex;
  std::shared_ptr<engine::Specializer> plans;
  /// Incremented by a refit: contexts check it before they run.
  std::atomic<uint64_t> generation = 0;

  std::shared_ptr<engine::Specializer> current_plans() const {
    const std::lock_guard lock(mutex);
    return plans;
  }
};

/// Restores the build settings of a saved engine.
void apply(const engine::SavedRules& rules, engine::BuildConfig& config);

/// An engine with loaded or built content. `builder`: the builder of its plans, for other shapes; null:
/// created on demand. `is_lazy`: see BuilderConfig.
std::shared_ptr<Engine> make_engine(std::shared_ptr<Runtime::State> runtime, engine::SavedEngine saved,
                                    std::unique_ptr<engine::PlanBuilder> builder = nullptr,
                                    bool is_lazy = false);
/// Creates the builder of plans for other shapes of a saved engine, with its plans.
std::shared_ptr<engine::Specializer> make_specializer(const Runtime::State& runtime,
                                                      const engine::SavedEngine& saved, bool is_lazy = false);

}  // namespace assay
