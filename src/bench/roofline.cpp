#include "bench/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <set>

#include "kernels/rates/machine_rates.h"

namespace assay::bench {
namespace {

constexpr double kComputeSeconds = 0.1, kReadSeconds = 0.03;

/// Multiply-adds of a model's nodes, for the layers that run them.
class WorkOfNodes {
 public:
  WorkOfNodes(const ModelStats& stats, const std::vector<PlanLayerDescription>& layers) {
    for (const LayerStats& layer : stats.layers) {
      // Layers of a body belong to the node around it: their names begin with `node/attribute/`.
      const std::optional<int64_t> number = layer.is_counted ? (layer.macs * layer.times).number() : 0;
      macs_.emplace(layer.name, number);
    }
    for (const PlanLayerDescription& layer : layers)
      for (size_t i = 0; i < layer.origins.size(); ++i) offer(layer, i);
  }

  /// Nothing where a node's are not known. A node that several layers stand for is counted with one of them:
  /// others quantize its operand, or move what it reads.
  std::optional<int64_t> of_layer(const PlanLayerDescription& layer) {
    std::optional<int64_t> sum = 0;
    for (const std::string& node : layer.origins) {
      if (!sum || runs_.at(node).layer != &layer || !counted_.insert(node).second) continue;
      const std::optional<int64_t> number = of_node(node);
      sum = number ? std::optional(*sum + *number) : std::nullopt;
    }
    return sum;
  }

 private:
  /// Of a body's node, too: the layer that runs the node around it does its work.
  std::optional<int64_t> of_node(const std::string& node) const {
    std::optional<int64_t> sum = 0;
    const auto add = [&](const std::optional<int64_t>& number) {
      sum = sum && number ? std::optional(*sum + *number) : std::nullopt;
    };
    if (const auto it = macs_.find(node); it != macs_.end()) add(it->second);
    const std::string inside = node + "/";
    for (auto it = macs_.lower_bound(inside); it != macs_.end() && it->first.starts_with(inside); ++it)
      add(it->second);
    return sum;
  }

  /// A layer that stands for a node: better where the node comes first, then where there are more weights.
  struct Runs {
    const PlanLayerDescription* layer;
    std::pair<bool, size_t> merit;
  };

  void offer(const PlanLayerDescription& layer, size_t origin) {
    size_t weights = 0;
    for (const PlanValueDescription& v : layer.inputs) weights += v.is_constant ? v.bytes : 0;
    const Runs found{&layer, {origin == 0, weights}};
    const auto [it, is_new] = runs_.emplace(layer.origins[origin], found);
    if (!is_new && it->second.merit < found.merit) it->second = found;
  }

  std::map<std::string, std::optional<int64_t>> macs_;  ///< by the node's name, all runs of a body counted
  std::map<std::string, Runs> runs_;                    ///< by the node's name: the layer that it counts with
  std::set<std::string> counted_;
};

/// Each once, whatever the number of layers that read them.
int64_t bytes_of_weights(const EngineDescription& engine) {
  std::map<std::string, size_t> weights;
  for (const PlanLayerDescription& layer : engine.layers)
    for (const PlanValueDescription& v : layer.inputs)
      if (v.is_constant) weights.emplace(v.name, v.bytes);
  int64_t sum = 0;
  for (const auto& [name, bytes] : weights) sum += static_cast<int64_t>(bytes);
  return sum;
}

/// Of the weights and values that a layer reads and writes.
void count_bytes(const PlanLayerDescription& layer, LayerFloor& f) {
  int64_t made = 0;
  for (const PlanValueDescription& v : layer.inputs)
    (v.is_constant ? f.weight_bytes : f.value_bytes) += static_cast<int64_t>(v.bytes);
  for (const PlanValueDescription& v : layer.outputs) made += static_cast<int64_t>(v.bytes);
  // A layer that only moves elements reads no more of a table than it writes: an embedding's few rows.
  if (f.multiply_adds == 0 && made > 0) f.weight_bytes = std::min(f.weight_bytes, made);
  f.value_bytes += made;
}

/// Multiply-adds in a second of the type that the layer computes in; rates of narrow types are kept.
double rate_of(const PlanLayerDescription& layer, Roofline& roofline, const MachineLimits& limits) {
  const auto known = [](double& kept, const std::function<double()>& measure) {
    if (kept == 0) kept = measure();
    return kept;
  };
  double rate = 0;
  if (layer.computes.starts_with("int8") || layer.computes.starts_with("uint8"))
    rate = known(roofline.int8_per_second, limits.int8_multiply_adds);
  else if (layer.computes.starts_with("bfloat16"))
    rate = known(roofline.bfloat16_per_second, limits.bfloat16_multiply_adds);
  return rate > 0 ? rate : roofline.multiply_adds_per_second;
}

double milliseconds_at(double amount, double rate) { return rate > 0 ? 1e3 * amount / rate : 0; }

/// The time that the layer's work takes at least; `all_weights` bytes are read in each run of the engine.
double floor_of(const LayerFloor& f, double rate, int64_t all_weights, const MachineLimits& limits) {
  double floor = milliseconds_at(static_cast<double>(f.multiply_adds.value_or(0)), rate);
  if (f.weight_bytes > 0)
    floor =
        std::max(floor, milliseconds_at(static_cast<double>(f.weight_bytes), limits.reading(all_weights)));
  if (f.value_bytes > 0)
    floor =
        std::max(floor, milliseconds_at(static_cast<double>(f.value_bytes), limits.reading(f.value_bytes)));
  return floor;
}

}  // namespace

double Roofline::milliseconds() const {
  double sum = 0;
  for (const LayerFloor& l : layers) sum += l.milliseconds;
  return sum;
}

double Roofline::floor() const {
  double sum = 0;
  for (const LayerFloor& l : layers) sum += l.floor;
  return sum;
}

MachineLimits measure_limits() {
  const auto known = std::make_shared<std::map<int, double>>();
  return {.multiply_adds = kernels::measure_multiply_adds(kComputeSeconds),
          .int8_multiply_adds = [] { return kernels::measure_int8_multiply_adds(kComputeSeconds); },
          .bfloat16_multiply_adds = [] { return kernels::measure_bfloat16_multiply_adds(kComputeSeconds); },
          .reading =
              [known](int64_t bytes) {
                const int power = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(1, bytes) - 1));
                const int measured = std::clamp(power, 12, 28);  // 256 MiB: no cache holds it
                const auto [it, is_new] = known->emplace(measured, 0);
                if (is_new) it->second = kernels::measure_reading(int64_t{1} << measured, kReadSeconds);
                return it->second;
              }};
}

Roofline make_roofline(const EngineDescription& engine, const LayerTimes& times, const ModelStats* stats,
                       const MachineLimits& limits) {
  Roofline roofline{.shapes = times.shapes, .multiply_adds_per_second = limits.multiply_adds};
  std::optional<WorkOfNodes> work;
  if (stats != nullptr) work.emplace(*stats, engine.layers);
  const int64_t weight_bytes = bytes_of_weights(engine);
  roofline.memory_bytes_per_second = limits.reading(int64_t{1} << 28);
  for (size_t i = 0; i < engine.layers.size(); ++i) {
    const PlanLayerDescription& layer = engine.layers[i];
    LayerFloor f{.name = layer.name, .tactic = layer.tactic};
    if (i < times.layers.size() && times.layers[i].name == layer.name)
      f.milliseconds = median(times.layers[i].milliseconds);
    if (work) f.multiply_adds = work->of_layer(layer);
    count_bytes(layer, f);
    const bool multiplies = f.multiply_adds.value_or(0) > 0;
    f.floor = floor_of(f, multiplies ? rate_of(layer, roofline, limits) : 0, weight_bytes, limits);
    roofline.layers.push_back(std::move(f));
  }
  return roofline;
}

Lines roofline_lines(const Roofline& roofline) {
  std::string narrow;
  if (roofline.bfloat16_per_second > 0)
    narrow += fmt::format(", {:.1f} in bfloat16", 2e-9 * roofline.bfloat16_per_second);
  if (roofline.int8_per_second > 0)
    narrow += fmt::format(", {:.1f} in int8", 2e-9 * roofline.int8_per_second);
  Lines lines = {
      fmt::format("=== Roofline ({}) ===", roofline.shapes),
      fmt::format("This machine, measured: {:.1f} GFLOP/s (a multiply-add is two){}, {:.1f} GB/s from memory",
                  2e-9 * roofline.multiply_adds_per_second, narrow, 1e-9 * roofline.memory_bytes_per_second),
      fmt::format("{:>10} {:>10} {:>8} {:>10} {:>10} {:>10} {:>10}   {}", "Median(ms)", "Floor(ms)",
                  "Floor(%)", "MFLOP", "GFLOP/s", "Weights MB", "Values MB", "Layer")};
  for (const LayerFloor& l : roofline.layers) {
    if (l.milliseconds <= 0) continue;
    const double flops = 2.0 * static_cast<double>(l.multiply_adds.value_or(0));
    lines.push_back(fmt::format(
        "{:>10.4f} {:>10.4f} {:>8.0f} {:>10} {:>10} {:>10.3f} {:>10.3f}   {}", l.milliseconds, l.floor,
        100 * l.floor / l.milliseconds, l.multiply_adds ? fmt::format("{:.2f}", 1e-6 * flops) : "?",
        l.multiply_adds ? fmt::format("{:.1f}", 1e-6 * flops / l.milliseconds) : "?",
        1e-6 * static_cast<double>(l.weight_bytes), 1e-6 * static_cast<double>(l.value_bytes), l.name));
  }
  const double time = roofline.milliseconds(), floor = roofline.floor();
  lines.push_back(
      fmt::format("{:>10.4f} {:>10.4f} {:>8.0f}   Total", time, floor, time > 0 ? 100 * floor / time : 0.0));
  return lines;
}

}  // namespace assay::bench
