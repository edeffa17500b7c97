#include "debug/engine_search.h"

#include "base/thread_pool.h"
#include "debug/child.h"

namespace assay::debug {
namespace {

/// Hands on what another calibrator does, and keeps the scales.
class KeepsScales final : public Int8Calibrator {
 public:
  explicit KeepsScales(std::shared_ptr<Int8Calibrator> own) : own_(std::move(own)) {}
  CalibrationAlgorithm algorithm() const override { return own_->algorithm(); }
  double quantile() const override { return own_->quantile(); }
  std::string cache_name() const override { return own_->cache_name(); }
  std::optional<TensorList> next_batch(const std::vector<TensorInfo>& inputs) override {
    return own_->next_batch(inputs);
  }
  std::optional<std::string> read_cache() override {
    auto text = own_->read_cache();
    if (text) scales = *text;
    return text;
  }
  void write_cache(const std::string& text) override {
    scales = text;
    own_->write_cache(text);
  }
  std::string scales;

 private:
  std::shared_ptr<Int8Calibrator> own_;
};

}  // namespace

EngineSearch::EngineSearch(EngineSearchOptions options, Iterations& iterations, EngineCheck* check)
    : options_(std::move(options)), iterations_(iterations), check_(check) {
  if (options_.runtime.pool == nullptr)
    options_.runtime.pool = std::make_shared<ThreadPool>(options_.runtime.threads);
}

void EngineSearch::calibrate() {
  BuilderConfig& config = options_.building.config;
  if (!config.int8 || config.calibrator != nullptr) return;
  const auto keeps = std::make_shared<KeepsScales>(make_calibrator(options_.building.calibration));
  config.calibrator = keeps;
  const std::string scales = in_child([&] {
    build_here({});
    return keeps->scales;
  });
  config.calibrator = scales.empty() ? nullptr : given_scales(scales, "the scales of the calibration");
}

std::shared_ptr<Engine> EngineSearch::build_here(const EngineTrial& trial) const {
  EngineBuildOptions building = options_.building;
  building.is_trial = true;
  building.change_config = [&trial, own = building.change_config](const Model& network,
                                                                  BuilderConfig& config) {
    if (own) own(network, config);
    if (!trial.is_timed) config.optimization_level = 0;
    if (trial.change) trial.change(config);
  };
  RuntimeOptions runtime = options_.runtime;
  if (trial.passes != nullptr) runtime.passes = trial.passes;
  return build_engine(Runtime(std::move(runtime)), options_.model, building);
}

std::string EngineSearch::build(const EngineTrial& trial, const std::function<std::string()>& look) {
  calibrate();
  return in_child([&] {
    build_here(trial);
    return look();
  });
}

Iterations::Candidate EngineSearch::candidate(EngineTrial trial) {
  std::string question = trial.question;
  auto write = [this, trial = std::move(trial)](const std::string& path) {
    calibrate();
    if (check_ != nullptr)
      check_->take([this, trial] { return build_here(trial); });
    else
      in_child([&] {
        build_here(trial)->save(path);
        return std::string();
      });
  };
  return {.write = std::move(write),
          .question = std::move(question),
          .state = {},
          .remaining = {},
          .instead = {}};
}

Answer EngineSearch::ask(const EngineTrial& trial, std::optional<size_t> remaining) {
  Iterations::Candidate asked = candidate(trial);
  asked.remaining = remaining;
  return iterations_.run(asked).answer;
}

void EngineSearch::expect(std::vector<EngineTrial> trials) {
  if (foresight() == 0) return;
  std::vector<Iterations::Candidate> candidates;
  for (EngineTrial& trial : trials) candidates.push_back(candidate(std::move(trial)));
  iterations_.expect(std::move(candidates));
}

}  // namespace assay::debug
