#include "debug/quantization_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "assay/error.h"
#include "engine/objects/switched_network.h"

namespace assay::debug {
namespace {

/// Sums over all data.
struct Noise {
  double signal = 0, error = 0;
  int64_t numbers = 0;

  void add(const Tensor& own, const Tensor& exact) {
    const std::span<const float> x = own.span<float>(), y = exact.span<float>();
    for (size_t i = 0; i < y.size(); ++i) {
      if (!std::isfinite(y[i])) continue;
      const double e = static_cast<double>(x[i]) - y[i];
      signal += static_cast<double>(y[i]) * y[i];
      error += e * e;
    }
    numbers += static_cast<int64_t>(y.size());
  }
  double ratio() const { return error == 0 ? 0 : signal > 0 ? error / signal : 1e30; }
  double decibels() const {
    return error == 0 ? INFINITY : signal > 0 ? 10 * std::log10(signal / error) : -INFINITY;
  }
};

int64_t count_beyond(const Tensor& t, float limit) {
  const std::span<const float> x = t.span<float>();
  return std::count_if(x.begin(), x.end(), [&](float v) { return std::fabs(v) > limit; });
}

/// Seconds by the name of the layer that a step does most for.
class StepTimes final : public AlgorithmSelector {
 public:
  explicit StepTimes(const std::vector<SwitchedLayer>& layers) {
    for (const SwitchedLayer& l : layers) seconds.emplace(l.name, 0);
  }
  std::optional<std::vector<size_t>> select_algorithms(const std::vector<std::string>&,
                                                       const std::vector<Algorithm>&) override {
    return std::nullopt;
  }
  void report_algorithms(const std::vector<std::string>& nodes, const Algorithm& chosen) override {
    for (const std::string& name : nodes)
      if (const auto it = seconds.find(name); it != seconds.end()) {
        it->second += chosen.seconds;
        return;
      }
  }
  std::map<std::string, double> seconds;
};

bool is_float_output(const Tensor& t) {
  return t.defined() && !t.is_container() && t.dtype() == DType::kFloat32;
}

/// The sum over the outputs of what is lost, in proportion.
double excess_of(const std::vector<Tensor>& own, const std::vector<Tensor>& exact) {
  double sum = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (!is_float_output(exact[i]) || own[i].shape() != exact[i].shape()) continue;
    Noise noise;
    noise.add(own[i], exact[i]);
    sum += noise.ratio();
  }
  return sum;
}

void compare(const std::vector<Tensor>& own, const std::vector<Tensor>& exact, Accuracy& accuracy) {
  for (size_t i = 0; i < exact.size(); ++i)
    if (is_float_output(exact[i])) accuracy.add(own[i], exact[i]);
}

}  // namespace

struct QuantizationStudy::State {
  State(const Runtime& r, const std::shared_ptr<const Model>& model, const EngineBuildOptions& o,
        std::function<void(const std::string&)> progress)
      : runtime(r), options(o), on_progress(std::move(progress)), build(prepare_build(model, options)) {
    report("calibrating");
    network = switch_layers(runtime, build.network, build.config);
    report("building the networks to compare");
    const Builder builder(runtime);
    const BuilderConfig plain{.optimization_level = 0, .profiles = build.config.profiles};
    switched = builder.build_engine(network.switched, plain)->create_execution_context();
    probed = builder.build_engine(network.probed, plain)->create_execution_context();
    exact = std::vector<bool>(network.layers.size(), false);
  }

  void report(const std::string& what) const {
    if (on_progress) on_progress(what);
  }

  /// Every set of inputs, in the order of the network's.
  template <typename Use>
  size_t each_set(Use use) {
    CalibrationOptions data = options.calibration;
    data.cache.clear();
    data.is_random = false;  // the calibration has said so
    const auto source = make_calibrator(data);
    std::vector<TensorInfo> inputs;
    for (const Value* v : build.network->graph->inputs) inputs.push_back({v->name(), v->type});
    if (!build.config.profiles.empty()) set_shapes(inputs);
    size_t sets = 0;
    while (auto batch = source->next_batch(inputs)) {
      std::vector<Tensor> feed;
      for (NamedTensor& t : *batch) feed.push_back(std::move(t.tensor));
      use(feed, sets++);
    }
    return sets;
  }

  /// The best ones of the last profile.
  void set_shapes(std::vector<TensorInfo>& inputs) const {
    for (TensorInfo& input : inputs)
      if (const auto* range = build.config.profiles.back().find(input.name);
          range != nullptr && !range->holds_values)
        input.type = Type::tensor(input.type.dtype, Shape(range->opt));
  }

  std::vector<Tensor> run(std::vector<Tensor> feed, const std::vector<bool>& lowered) const {
    for (const bool is_lowered : lowered) {
      Tensor choice = Tensor::zeros(DType::kBool, Shape{});
      choice.mutable_data<bool>()[0] = is_lowered;
      feed.push_back(std::move(choice));
    }
    return switched->infer(feed);
  }

  Accuracy accuracy_with(const std::vector<bool>& lowered) {
    Accuracy accuracy;
    each_set([&](const std::vector<Tensor>& feed, size_t) {
      compare(run(feed, lowered), run(feed, exact), accuracy);
    });
    return accuracy;
  }

  void estimate_times(QuantizationCost& cost);

  const Runtime& runtime;
  const EngineBuildOptions& options;
  std::function<void(const std::string&)> on_progress;
  PreparedBuild build;
  SwitchedNetwork network;
  std::unique_ptr<ExecutionContext> switched, probed;
  std::vector<bool> exact;  ///< every switch off
};

QuantizationStudy::QuantizationStudy(const Runtime& runtime, std::shared_ptr<const Model> model,
                                     const EngineBuildOptions& options,
                                     std::function<void(const std::string&)> on_progress)
    : state_(std::make_unique<State>(runtime, model, options, std::move(on_progress))) {}

QuantizationStudy::~QuantizationStudy() = default;

QuantizationCost QuantizationStudy::measure() {
  State& s = *state_;
  const std::vector<SwitchedLayer>& layers = s.network.layers;
  std::vector<Noise> own(layers.size());
  std::vector<int64_t> beyond(layers.size()), numbers(layers.size());
  std::vector<double> excess(layers.size());
  QuantizationCost cost;
  bool has_floats = false;
  cost.sets = s.each_set([&](const std::vector<Tensor>& feed, size_t set) {
    const std::vector<Tensor> probes = s.probed->infer(feed);
    for (size_t i = 0; i < layers.size(); ++i) {
      own[i].add(probes[layers[i].lowered], probes[layers[i].exact]);
      beyond[i] += count_beyond(probes[layers[i].input], 127.5F * layers[i].scale);
      numbers[i] += probes[layers[i].input].numel();
    }
    const std::vector<Tensor> exact = s.run(feed, s.exact);
    has_floats = has_floats || std::any_of(exact.begin(), exact.end(), is_float_output);
    compare(s.run(feed, std::vector<bool>(layers.size(), true)), exact, cost.all_lowered);
    for (size_t i = 0; i < layers.size(); ++i) {
      s.report(fmt::format("what each layer costs: set of inputs {}, layer {} of {}", set + 1, i + 1,
                           layers.size()));
      std::vector<bool> lowered = s.exact;
      lowered[i] = true;
      excess[i] += excess_of(s.run(feed, lowered), exact);
    }
  });
  require(cost.sets > 0, ErrorCode::kInvalidArgument, "there are no data to measure the accuracy with");
  require(has_floats, ErrorCode::kInvalidArgument,
          "the network has no output of float32 whose accuracy could be measured");
  double sum = 0;
  for (const double e : excess) sum += e;
  for (size_t i = 0; i < layers.size(); ++i)
    cost.layers.push_back(
        {.layer = layers[i].name,
         .op_type = layers[i].op_type,
         .decibels = own[i].decibels(),
         .saturated = numbers[i] == 0 ? 0 : static_cast<double>(beyond[i]) / static_cast<double>(numbers[i]),
         .error_share = sum > 0 ? excess[i] / sum : 0,
         .multiply_adds = layers[i].multiply_adds});
  cost.answer = cost.all_lowered;
  s.estimate_times(cost);
  std::stable_sort(cost.layers.begin(), cost.layers.end(),
                   [](const LayerCost& a, const LayerCost& b) { return a.error_share > b.error_share; });
  return cost;
}

/// By the costs of a build in float32 and of one in 8 bits.
void QuantizationStudy::State::estimate_times(QuantizationCost& cost) {
  report("what each layer gains");
  BuilderConfig config = build.config;
  config.calibrator = nullptr;
  config.timing_cache = std::make_shared<TimingCache>(runtime.timing_environment());
  cost.is_timed = config.optimization_level > 0;
  const Builder builder(runtime);
  StepTimes before(network.layers), after(network.layers);
  config.int8 = false;
  config.float_nodes.clear();
  config.layer_types.clear();
  config.algorithm_selector = &before;
  builder.build_engine(build.network, config);
  config.int8 = true;
  config.calibrator =
      given_scales(CalibrationTable{.scales = network.quantization->scales}.str(), "the scales");
  config.float_nodes = build.config.float_nodes;
  config.algorithm_selector = &after;
  builder.build_engine(build.network, config);
  for (LayerCost& layer : cost.layers)
    layer.seconds_gained = before.seconds[layer.layer] - after.seconds[layer.layer];
}

void QuantizationStudy::hold_back(QuantizationCost& cost, const AccuracyGoal& goal) {
  State& s = *state_;
  cost.goal = goal;
  std::map<std::string, size_t> positions;
  for (size_t i = 0; i < s.network.layers.size(); ++i) positions[s.network.layers[i].name] = i;
  const auto accuracy_holding = [&](size_t count) {
    s.report(fmt::format("how many layers stay in float32: {}", count));
    std::vector<bool> lowered(s.network.layers.size(), true);
    for (size_t i = 0; i < count; ++i) lowered[positions.at(cost.layers[i].layer)] = false;
    return s.accuracy_with(lowered);
  };
  size_t held = 0;
  if (!goal.is_met(cost.all_lowered)) {
    size_t bad = 0, good = cost.layers.size();
    while (good - bad > 1) {
      const size_t middle = (good + bad) / 2;
      (goal.is_met(accuracy_holding(middle)) ? good : bad) = middle;
    }
    held = good;
  }
  for (size_t i = 0; i < cost.layers.size(); ++i) cost.layers[i].is_held = i < held;
  cost.answer = held == 0 ? cost.all_lowered : accuracy_holding(held);
}

bool QuantizationStudy::hold_more(QuantizationCost& cost, size_t count) {
  bool any = false;
  for (LayerCost& layer : cost.layers) {
    if (layer.is_held || count == 0) continue;
    layer.is_held = any = true;
    --count;
  }
  return any;
}

Accuracy QuantizationStudy::accuracy_of(const std::shared_ptr<Engine>& engine) {
  State& s = *state_;
  const auto context = engine->create_execution_context();
  if (!s.build.config.profiles.empty()) context->set_optimization_profile(s.build.config.profiles.size() - 1);
  Accuracy accuracy;
  s.each_set([&](const std::vector<Tensor>& feed, size_t) {
    compare(context->infer(feed), s.run(feed, s.exact), accuracy);
  });
  return accuracy;
}

std::string QuantizationStudy::scales() const {
  const State& s = *state_;
  return CalibrationTable{.algorithm = s.build.config.calibrator->algorithm(),
                          .scales = s.network.quantization->scales}
      .str();
}

std::vector<std::string> held_layers(const QuantizationCost& cost) {
  std::vector<std::string> names;
  for (const LayerCost& layer : cost.layers)
    if (layer.is_held) names.push_back(layer.layer);
  return names;
}

}  // namespace assay::debug
