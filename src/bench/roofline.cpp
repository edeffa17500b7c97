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

/// Multiply-adds of each node by its name, all runs of a body counted.
std::map<std::string, std::optional<int64_t>> by_node(const ModelStats& stats) {
  std::map<std::string, std::optional<int64_t>> macs;
  for (const LayerStats& layer : stats.layers) {
    // Nodes of a body count for the node around it: their names begin with `node/attribute/`.
    const std::optional<int64_t> number = layer.is_counted ? (layer.macs * layer.times).number() : 0;
    macs.emplace(layer.name, number);
  }
  return macs;
}

/// Also for a body's node: the layer of the node around it does its work.
std::optional<int64_t> count(const std::map<std::string, std::optional<int64_t>>& macs,
                             const std::string& node) {
  std::optional<int64_t> sum = 0;
  const auto add = [&](const std::optional<int64_t>& number) {
    sum = sum && number ? std::optional(*sum + *number) : std::nullopt;
  };
  if (const auto it = macs.find(node); it != macs.end()) add(it->second);
  const std::string inside = node + "/";
  for (auto it = macs.lower_bound(inside); it != macs.end() && it->first.starts_with(inside); ++it)
    add(it->second);
  return sum;
}

double milliseconds_at(double amount, double rate) { return rate > 0 ? 1e3 * amount / rate : 0; }

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
          .reading = [known](int64_t bytes) {
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
  const auto macs = stats != nullptr ? by_node(*stats) : std::map<std::string, std::optional<int64_t>>();
  std::map<std::string, size_t> all_weights;
  for (const PlanLayerDescription& layer : engine.layers)
    for (const PlanValueDescription& v : layer.inputs)
      if (v.is_constant) all_weights.emplace(v.name, v.bytes);
  int64_t weight_bytes = 0;
  for (const auto& [name, bytes] : all_weights) weight_bytes += static_cast<int64_t>(bytes);
  roofline.memory_bytes_per_second = limits.reading(int64_t{1} << 28);

  std::set<std::string> counted;  // a node of several layers is counted with the first
  for (size_t i = 0; i < engine.layers.size(); ++i) {
    const PlanLayerDescription& layer = engine.layers[i];
    LayerFloor f{.name = layer.name, .tactic = layer.tactic};
    if (i < times.layers.size() && times.layers[i].name == layer.name)
      f.milliseconds = median(times.layers[i].milliseconds);
    if (stats != nullptr) {
      f.multiply_adds = 0;
      for (const std::string& node : layer.origins) {
        if (!f.multiply_adds || !counted.insert(node).second) continue;
        const std::optional<int64_t> number = count(macs, node);
        f.multiply_adds = number ? std::optional(*f.multiply_adds + *number) : std::nullopt;
      }
    }
    int64_t made = 0;
    for (const PlanValueDescription& v : layer.inputs)
      (v.is_constant ? f.weight_bytes : f.value_bytes) += static_cast<int64_t>(v.bytes);
    for (const PlanValueDescription& v : layer.outputs) made += static_cast<int64_t>(v.bytes);
    // Layers that only move elements read no more of a table than they output: an embedding reads some rows.
    if (f.multiply_adds == 0 && made > 0) f.weight_bytes = std::min(f.weight_bytes, made);
    f.value_bytes += made;
    f.floor = milliseconds_at(static_cast<double>(f.multiply_adds.value_or(0)), limits.multiply_adds);
    if (f.weight_bytes > 0)
      f.floor = std::max(f.floor,
                         milliseconds_at(static_cast<double>(f.weight_bytes), limits.reading(weight_bytes)));
    if (f.value_bytes > 0)
      f.floor = std::max(f.floor,
                         milliseconds_at(static_cast<double>(f.value_bytes), limits.reading(f.value_bytes)));
    roofline.layers.push_back(std::move(f));
  }
  return roofline;
}

Lines roofline_lines(const Roofline& roofline) {
  Lines lines = {
      fmt::format("=== Roofline ({}) ===", roofline.shapes),
      fmt::format("This machine, measured: {:.1f} GFLOP/s (a multiply-add is two), {:.1f} GB/s from memory",
                  2e-9 * roofline.multiply_adds_per_second, 1e-9 * roofline.memory_bytes_per_second),
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
