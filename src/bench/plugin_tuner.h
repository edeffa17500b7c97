// Networks with some of their parts replaced by plugins, built and timed alternately.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "assay/builder.h"
#include "bench/replacement_search.h"
#include "bench/shapes.h"
#include "plugin/match.h"

namespace assay::bench {

/// Custom replacement of a plugin: returns the model with the instances in `part` replaced. Throws Error when
/// one is not.
using OwnReplacement = std::function<std::shared_ptr<Model>(const Model& model, const PluginMatches& part)>;

/// A plugin and one place where it applies.
struct TunedInstance {
  const PluginMatches* plugin;
  const PluginInstance* instance;
  std::string name;  ///< "<plugin>_<number>"
  OwnReplacement own = nullptr;
};
/// `own`: by names of plugins.
std::vector<TunedInstance> instances_of(const std::vector<PluginMatches>& plugins,
                                        const std::map<std::string, OwnReplacement>& own = {});

/// A copy of the model with these instances replaced, those with a custom replacement last, plugin after
/// plugin. Throws Error when one cannot be.
std::shared_ptr<Model> replace_instances(const Model& model, const std::vector<TunedInstance>& instances,
                                         const Replacements& replaced);

class PluginTuner {
 public:
  /// All of them must outlive the tuner. `shapes`: of the inputs with open extents, which default to 1;
  /// `warnings` receives a sentence for each of these. Throws Error.
  PluginTuner(const Runtime& runtime, std::shared_ptr<const Model> model,
              const std::vector<TunedInstance>& instances, std::shared_ptr<TimingCache> cache,
              const ShapeSet& shapes, std::vector<std::string>& warnings);

  /// Of the unchanged network. Throws Error when it cannot be built.
  Performance measure_baseline();
  /// Builds a network and times it alternately with the best one so far. Throws Error.
  Contest measure(const Replacements& tried, const Replacements& best_so_far);

  /// The largest difference of the outputs of the network measured last from those of the unchanged one,
  /// relative to the largest magnitude among these.
  double difference() const { return difference_; }
  size_t builds() const { return builds_; }
  double build_seconds() const { return build_seconds_; }

 private:
  std::shared_ptr<Engine> engine_for(const Replacements& replaced);
  std::unique_ptr<Worker> worker_for(const std::shared_ptr<Engine>& engine) const;
  Performance performance_of(const Lane& lane, const Engine& engine) const;

  const Runtime& runtime_;
  const std::shared_ptr<const Model> model_;
  const std::vector<TunedInstance>& instances_;
  BuilderConfig config_;
  std::vector<Tensor> feed_;
  std::map<Replacements, std::shared_ptr<Engine>> engines_;  ///< the unchanged one, the best and the last
  TensorList expected_;
  double difference_ = 0, build_seconds_ = 0;
  size_t builds_ = 0;
};

}  // namespace assay::bench
