#include "bench/plugin_tuner.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/session_info.h"
#include "bench/feed.h"
#include "bench/result.h"
#include "bench/statistics.h"
#include "graph/clone.h"
#include "plugin/replace.h"

namespace assay::bench {
namespace {

constexpr size_t kParts = 12, kMostRounds = 4;

/// Enough for a clear outcome on a quiet machine. Of a round beyond the first: with the runs of those before.
MeasureOptions measuring(size_t round = 1) {
  return {.warm_up = round == 1 ? 0.1 : 0,
          .duration = 0.6 * static_cast<double>(round),
          .iterations = static_cast<int64_t>(kParts * round)};
}

/// Measures on while the runs so far leave it open which lane is faster.
Outcome contest(std::vector<Lane>& lanes) {
  Outcome outcome = Outcome::kOpen;
  for (size_t round = 1; outcome == Outcome::kOpen && round <= kMostRounds; ++round) {
    bench::measure(lanes, measuring(round));
    outcome = compare_lanes(lanes[1], lanes[0], kParts * round);
  }
  return outcome;
}

double bytes_of(const TensorList& tensors) {
  double bytes = 0;
  for (const NamedTensor& t : tensors) bytes += static_cast<double>(t.tensor.nbytes());
  return bytes;
}

}  // namespace

std::vector<TunedInstance> instances_of(const std::vector<PluginMatches>& plugins,
                                        const std::map<std::string, OwnReplacement>& own) {
  std::vector<TunedInstance> all;
  for (const PluginMatches& plugin : plugins) {
    const auto way = own.find(plugin.name);
    for (size_t i = 0; i < plugin.instances.size(); ++i)
      all.push_back({&plugin, &plugin.instances[i], fmt::format("{}_{}", plugin.name, i),
                     way != own.end() ? way->second : nullptr});
  }
  return all;
}

std::shared_ptr<Model> replace_instances(const Model& model, const std::vector<TunedInstance>& instances,
                                         const Replacements& replaced) {
  std::shared_ptr<Model> changed = clone_model(model);
  PluginReplacer replacer(*changed);
  std::vector<std::pair<const TunedInstance*, PluginMatches>> parts;
  for (const size_t position : replaced) {
    const TunedInstance& i = instances[position];
    if (i.own) {
      auto part = std::find_if(parts.begin(), parts.end(),
                               [&](const auto& p) { return p.first->plugin == i.plugin; });
      if (part == parts.end()) {
        part = parts.emplace(parts.end(), &i, *i.plugin);
        part->second.instances.clear();
      }
      part->second.instances.push_back(*i.instance);
      continue;
    }
    const std::string reason = replacer.replace(*i.plugin, *i.instance);
    require(reason.empty(), ErrorCode::kInvalidArgument, "{} cannot stand there: {}", i.name, reason);
  }
  replacer.finish();
  for (const auto& [first, part] : parts) changed = first->own(*changed, part);
  return changed;
}

PluginTuner::PluginTuner(const Runtime& runtime, std::shared_ptr<const Model> model,
                         const std::vector<TunedInstance>& instances, std::shared_ptr<TimingCache> cache,
                         const ShapeSet& shapes, std::vector<std::string>& warnings)
    : runtime_(runtime), model_(std::move(model)), instances_(instances) {
  const std::vector<TensorInfo> inputs = tensor_infos(model_->graph->inputs);
  const std::vector<ShapeSet> runs = {shapes};
  config_.profiles = make_profiles(inputs, {}, shapes.empty() ? std::vector<ShapeSet>() : runs, warnings);
  config_.timing_cache = std::move(cache);
  feed_ =
      make_feed(make_cases(inputs, shapes, config_.profiles.empty() ? nullptr : config_.profiles.data()), {});
}

std::shared_ptr<Engine> PluginTuner::engine_for(const Replacements& replaced) {
  if (const auto known = engines_.find(replaced); known != engines_.end()) return known->second;
  const double begin = now();
  std::shared_ptr<Engine> engine = Builder(runtime_).build_engine(
      replaced.empty() ? model_ : replace_instances(*model_, instances_, replaced), config_);
  build_seconds_ += now() - begin;
  ++builds_;
  return engines_[replaced] = std::move(engine);
}

std::unique_ptr<Worker> PluginTuner::worker_for(const std::shared_ptr<Engine>& engine) const {
  return make_worker(engine, /*profile=*/0, feed_, /*is_recorded=*/false);
}

Performance PluginTuner::performance_of(const Lane& lane, const Engine& engine) const {
  std::vector<double> seconds;
  for (const RunTimes& r : lane.runs) seconds.push_back(r.end - r.start);
  double memory =
      bytes_of(lane.workers.front()->outputs()) + static_cast<double>(engine.device_memory_size());
  for (const Tensor& t : feed_) memory += static_cast<double>(t.nbytes());
  return {.latency = median(std::move(seconds)), .throughput = lane.throughput(), .memory = memory};
}

Performance PluginTuner::measure_baseline() {
  const std::shared_ptr<Engine> engine = engine_for({});
  std::vector<Lane> lanes(1);
  lanes[0].workers.push_back(worker_for(engine));
  bench::measure(lanes, measuring());
  expected_ = lanes[0].workers.front()->outputs();
  return performance_of(lanes[0], *engine);
}

Contest PluginTuner::measure(const Replacements& tried, const Replacements& best_so_far) {
  std::erase_if(engines_, [&](const auto& e) { return !e.first.empty() && e.first != best_so_far; });
  const std::shared_ptr<Engine> best = engine_for(best_so_far), engine = engine_for(tried);
  std::vector<Lane> lanes(2);
  lanes[0].workers.push_back(worker_for(best));
  lanes[1].workers.push_back(worker_for(engine));
  const Outcome outcome = contest(lanes);
  if (!expected_.empty()) difference_ = relative_difference(lanes[1].workers.front()->outputs(), expected_);
  return {.performance = performance_of(lanes[1], *engine),
          .best_so_far = performance_of(lanes[0], *best),
          .is_faster = outcome == Outcome::kFaster};
}

}  // namespace assay::bench
