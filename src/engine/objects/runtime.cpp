#include "assay/runtime.h"

#include <cstring>

#include "assay/timing_cache.h"
#include "base/diagnostics.h"
#include "base/parallel.h"
#include "base/time_trace.h"
#include "engine/objects/state.h"

namespace assay {

void Runtime::State::warn(const std::string& sentence) const {
  if (options.on_warning)
    options.on_warning(sentence);
  else
    diag::warning("{}", sentence);
}

std::string Runtime::State::timing_environment() const {
  return fmt::format("{}, {} thread(s)", target->timing_fingerprint(), pool->size());
}

Runtime::Runtime(RuntimeOptions options)
    : state_(std::make_shared<State>(
          State{options.pool != nullptr ? options.pool : std::make_shared<ThreadPool>(options.threads),
                options.target != nullptr ? options.target : engine::cpu_target(), std::move(options)})) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

int Runtime::threads() const { return state_->pool->size(); }
std::string Runtime::environment() const { return state_->target->fingerprint(); }
std::string Runtime::timing_environment() const { return state_->timing_environment(); }

std::shared_ptr<Engine> Runtime::load_engine(const std::string& path) const {
  const trace::Span span(trace::Kind::kModel, [&] { return "read " + path; });
  return make_engine(state_, engine::load_engine(path, environment(), state_->options.ops));
}

std::shared_ptr<Engine> Runtime::deserialize_engine(std::string_view plan,
                                                    std::shared_ptr<const void> owner) const {
  if (owner == nullptr) {
    const auto copy = std::make_shared<const std::string>(plan);
    return make_engine(state_,
                       engine::parse_engine(*copy, copy, "the plan", environment(), state_->options.ops));
  }
  return make_engine(
      state_, engine::parse_engine(plan, std::move(owner), "the plan", environment(), state_->options.ops));
}

engine::BuildConfig base_config(const Runtime::State& runtime) {
  engine::BuildConfig config = engine::default_config(runtime.pool->size(), runtime.target);
  config.pool = runtime.pool;
  config.passes.set = runtime.options.passes;
  if (runtime.options.tactics != nullptr) config.tactics.set = runtime.options.tactics;
  return config;
}

void apply(const engine::SavedRules& rules, engine::BuildConfig& config) {
  config.optimize = rules.optimize;
  config.precisions = rules.precisions;
  config.passes.disabled = rules.disabled_passes;
  config.passes.max_edits = rules.max_edits;
  config.tactics.disabled = {rules.disabled_tactics.begin(), rules.disabled_tactics.end()};
  for (const engine::Preference& p : rules.pinned)
    config.tactics.pinned.insert_or_assign(p.origin, p.candidate);
  config.tactics.most_scratch = rules.most_scratch;
  config.quantization = rules.quantization;
  config.types = rules.types;
}

std::shared_ptr<engine::Specializer> make_specializer(const Runtime::State& runtime,
                                                      const engine::SavedEngine& saved, bool is_lazy) {
  engine::BuildConfig config = base_config(runtime);
  apply(saved.rules, config);
  config.bodies_ahead = !is_lazy;
  config.reports = false;
  for (const engine::Preference& p : saved.preferences)
    config.tactics.preferred.insert_or_assign(p.origin, p.candidate);
  auto plans = std::make_shared<engine::Specializer>(saved.model, std::move(config));
  for (const engine::SpecializedPlan& p : saved.plans)
    if (p.plan != nullptr) plans->add(p.key, p.plan);
  return plans;
}

std::shared_ptr<Engine> make_engine(std::shared_ptr<Runtime::State> runtime, engine::SavedEngine saved,
                                    std::unique_ptr<engine::PlanBuilder> builder, bool is_lazy) {
  if (const int threads = runtime->pool->size(); saved.threads != threads)
    runtime->warn(fmt::format(
        "The plan '{}' was built for {} thread(s) and runs on {}: it may have been faster otherwise.",
        saved.name, saved.threads, threads));
  auto state = std::make_unique<Engine::State>();
  for (const auto& i : saved.inputs) state->io.push_back({i.name, true, i.type});
  for (const auto& o : saved.outputs) state->io.push_back({o.name, false, o.type});
  state->input_count = saved.inputs.size();
  state->plans = make_specializer(*runtime, saved, is_lazy);
  if (builder != nullptr) state->plans->open(std::move(*builder));
  state->saved = std::move(saved);
  state->runtime = std::move(runtime);
  return std::make_shared<Engine>(std::move(state));
}

}  // namespace assay
