#include "engine/specialize/plan_builder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/cpus.h"
#include "engine/planner/network_choice.h"
#include "engine/specialize/dynamic_part.h"
#include "engine/specialize/open_parts.h"
#include "engine/specialize/shape_values.h"
#include "engine/tactics/tactic_list.h"
#include "graph/clone.h"
#include "graph/read.h"
#include "naming/origins.h"
#include "ops/infer.h"
#include "ops/multiply_accumulates.h"
#include "ops/node_facts.h"
#include "ops/positive_symbols.h"
#include "passes/raise_opset.h"
#include "passes/region.h"
#include "tensor/block_reuse.h"

namespace assay::engine {
namespace {

/// Folding makes shapes known, and known shapes let more fold. Each of loops that stand one behind the other
/// may make the next one's known.
constexpr int kMaxRounds = 4, kMaxLoopRounds = 32;

/// Weights are made one after the other, often of a copy: so many bytes of what became free are used again.
/// And they lie side by side on huge pages, so that the system hands out few and no large ones end with a
/// part unused.
constexpr int64_t kReusedBytes = int64_t{16} << 20;

/// Sets of shapes that are not near each other for which a builder knows the passes.
constexpr size_t kMaxPassRuns = 16;

/// A plan for many shapes has at most this part of its nodes in networks that are planned for each.
constexpr double kMaxOpen = 0.5;

/// What is given out without being computed passes through a node, so that there is a step to write it.
void compute_outputs(Graph& g) {
  for (Value*& v : g.outputs) {
    if (v->producer() != nullptr) continue;
    Value* given = g.add_value(g.unique_name(v->name() + "/output"), v->type);
    g.add_node("Identity", {v}, {given}, {}, v->name());
    v = given;
  }
}

/// Whether an algorithm in a narrower type competed.
bool has_narrower(const Choice& c) {
  const auto& options = c.options.options;
  return std::any_of(options.begin(), options.end(),
                     [](const Option& o) { return o.candidate.arithmetic != DType::kUndefined; });
}

int64_t edits_of(const std::vector<PassReport>& reports) {
  int64_t edits = 0;
  for (const PassReport& r : reports) edits += r.edits;
  return edits;
}

}  // namespace

/// Runs the passes of stages: all, and writes down which changed something, or those that did for near
/// shapes.
class PlanBuilder::Trail {
 public:
  Trail(const PlanBuilder& builder, const PassRuns* known)
      : builder_(builder), known_(known), passes_(builder.config_.passes) {}

  /// Whether another round is worth it.
  bool run(Model& model, PassStage stage) {
    if (known_ != nullptr) {
      const std::vector<const PassDef*>& passes = known_->runs.at(next_++);
      run_and_count(model, passes);
      return !passes.empty();
    }
    std::vector<const PassDef*>& changed = made_.emplace_back();
    const std::vector<PassReport> reports =
        run_and_count(model, passes_of(passes_).stage(stage, model.opset()));
    if (builder_.config_.reports) builder_.note_passes(reports);
    for (const PassReport& r : reports)
      if (r.edits > 0) changed.push_back(passes_of(passes_).find(r.pass));
    return !changed.empty();
  }
  bool follows() const { return known_ != nullptr; }
  /// What inputs hold decided, so that shapes alone do not say what passes find.
  void forget() { is_general_ = false; }
  bool is_general() const { return is_general_; }
  std::vector<std::vector<const PassDef*>> take() { return std::move(made_); }

 private:
  std::vector<PassReport> run_and_count(Model& model, std::span<const PassDef* const> passes) {
    std::vector<PassReport> reports = run_passes(model, passes, passes_);
    passes_.max_edits -= edits_of(reports);
    return reports;
  }

  const PlanBuilder& builder_;
  const PassRuns* known_;
  PassOptions passes_;  ///< with as many edits as are left
  size_t next_ = 0;
  bool is_general_ = true;
  std::vector<std::vector<const PassDef*>> made_;
};

PlanBuilder::PlanBuilder(const Model& model, BuildConfig config)
    : config_(std::move(config)), canonical_(clone_model(model)) {
  const BlockReuse reuse(kReusedBytes);
  if (config_.precisions != Precisions()) config_.tactics.most_lowered = NumericsClass::kLowered;
  if (config_.constants == nullptr) config_.constants = std::make_shared<ConstantCache>();
  infer_shapes(*canonical_);
  if (!config_.types.empty()) hold_types();
  run_passes(*canonical_, passes_of(config_.passes).stage(PassStage::kLowering));
  if (!config_.types.empty()) {
    // Functions and operators on integers have become other nodes.
    mark_held(*canonical_, config_.types);
    round_stored_tensors(*canonical_, config_.types);
  }
  if (config_.quantization != nullptr && raise_opset(*canonical_, kQuantizedOpset)) infer_shapes(*canonical_);
  quantized_ = find_quantized_constants(*canonical_->graph);
  // What edits are left is for all stages behind.
  if (config_.optimize) config_.passes.max_edits -= edits_of(run_stage(*canonical_, PassStage::kCanonical));
  if (config_.quantization != nullptr) quantize_network();
  for (const auto& v : canonical_->graph->values())
    if (v->tensor().defined() && !v->tensor().is_container()) findings_->addresses.insert(v->tensor().data());
}

void PlanBuilder::hold_types() {
  take_unmet(take_out_impossible(*canonical_, config_.precisions, config_.types));
  mark_held(*canonical_, config_.types);
  if (raise_opset(*canonical_, opset_for(config_.types))) infer_shapes(*canonical_);
}

void PlanBuilder::take_unmet(std::vector<UnmetWish> unmet) {
  if (config_.types.constraints == PrecisionConstraints::kObey) refuse_unmet(unmet);
  for (UnmetWish& u : unmet) {
    const bool is_known = std::any_of(unmet_.begin(), unmet_.end(), [&](const UnmetWish& known) {
      return known.name == u.name && known.is_tensor == u.is_tensor;
    });
    if (!is_known) unmet_.push_back(std::move(u));
  }
}

void PlanBuilder::quantize_network() {
  quantize_report_ = quantize(*canonical_, *config_.quantization);
  if (config_.passes.verify) verify_graph(*canonical_->graph);
  quantized_.merge(find_quantized_constants(*canonical_->graph));
}

void PlanBuilder::configure(BuildConfig config) {
  if (config.precisions != Precisions()) config.tactics.most_lowered = NumericsClass::kLowered;
  config.constants = config_.constants;
  config.passes.max_edits = config_.passes.max_edits;  // without those of the canonical form
  config.types = std::move(config_.types);             // without what cannot be followed
  config_ = std::move(config);
}

BuildConfig PlanBuilder::config_inside() const {
  BuildConfig config = config_;
  config.quantization = nullptr;
  config.is_part = true;
  return config;
}

std::vector<PassReport> PlanBuilder::run_stage(Model& model, PassStage stage) const {
  std::vector<PassReport> reports =
      run_passes(model, passes_of(config_.passes).stage(stage, model.opset()), config_.passes);
  if (config_.reports) note_passes(reports);
  return reports;
}

void PlanBuilder::note_passes(const std::vector<PassReport>& reports) const {
  for (const PassReport& r : reports) {
    const auto known = std::find_if(pass_reports_.begin(), pass_reports_.end(),
                                    [&](const PassReport& k) { return k.pass == r.pass; });
    if (known == pass_reports_.end()) {
      pass_reports_.push_back(r);
      continue;
    }
    known->edits += r.edits;
    known->seconds += r.seconds;
  }
}

/// Runs the passes for known shapes over a model whose types have been inferred.
void PlanBuilder::specialize(Model& model, Trail& trail) const {
  const auto loops = std::count_if(model.graph->nodes().begin(), model.graph->nodes().end(),
                                   [](const auto& n) { return is_op(*n, "Loop"); });
  const int rounds = kMaxRounds + static_cast<int>(std::min<int64_t>(loops, kMaxLoopRounds));
  for (int round = 0; config_.optimize && round < rounds; ++round) {
    if (!trail.run(model, PassStage::kSpecialize)) break;
    infer_shapes(model);
  }
}

std::shared_ptr<const Plan> PlanBuilder::build(std::span<const Shape> input_shapes) {
  std::vector<size_t> value_inputs;
  return build(input_shapes, {}, value_inputs);
}

std::shared_ptr<const Plan> PlanBuilder::build(std::span<const Shape> input_shapes,
                                               std::span<const Tensor> inputs,
                                               std::vector<size_t>& value_inputs) {
  if (const PassRuns* known = value_inputs.empty() ? near_runs(input_shapes) : nullptr) {
    Trail trail(*this, known);
    auto plan = build_from(clone_model(*canonical_), input_shapes, inputs, value_inputs, trail);
    // Other passes may be what it takes here.
    if (known->waits || !waits_for_shapes(*plan)) return plan;
  }
  Trail trail(*this, nullptr);
  auto plan = build_from(clone_model(*canonical_), input_shapes, inputs, value_inputs, trail);
  if (config_.memory != nullptr && trail.is_general()) {
    pass_runs_.push_front(
        {{input_shapes.begin(), input_shapes.end()}, trail.take(), waits_for_shapes(*plan)});
    if (pass_runs_.size() > kMaxPassRuns) pass_runs_.pop_back();
  }
  return plan;
}

const PlanBuilder::PassRuns* PlanBuilder::near_runs(std::span<const Shape> input_shapes) const {
  const auto it = std::find_if(pass_runs_.begin(), pass_runs_.end(), [&](const PassRuns& known) {
    return std::equal(known.shapes.begin(), known.shapes.end(), input_shapes.begin(), input_shapes.end(),
                      [](const Shape& a, const Shape& b) { return are_near(a, b); });
  });
  return it == pass_runs_.end() ? nullptr : &*it;
}

std::shared_ptr<const Plan> PlanBuilder::build_last(std::span<const Shape> input_shapes,
                                                    std::span<const Tensor> inputs,
                                                    std::vector<size_t>& value_inputs) {
  Trail trail(*this, nullptr);
  return build_from(canonical_, input_shapes, inputs, value_inputs, trail);
}

std::shared_ptr<const Plan> PlanBuilder::build_from(const std::shared_ptr<Model>& model,
                                                    std::span<const Shape> input_shapes,
                                                    std::span<const Tensor> inputs,
                                                    std::vector<size_t>& value_inputs, Trail& trail) {
  const BlockReuse reuse(kReusedBytes);
  Graph& g = *model->graph;
  const std::vector<Value*> graph_inputs = g.inputs;
  require(input_shapes.size() == g.inputs.size(), ErrorCode::kInvalidArgument,
          "the network has {} inputs, not {}", g.inputs.size(), input_shapes.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    require(!inputs[i].defined() || !g.inputs[i]->type.is_tensor() ||
                inputs[i].dtype() == g.inputs[i]->type.dtype,
            ErrorCode::kInvalidArgument, "the network's input '{}' is {}, not {}", g.inputs[i]->name(),
            dtype_name(g.inputs[i]->type.dtype), dtype_name(inputs[i].dtype()));
  const auto fix = [&](size_t i) { graph_inputs[i]->set_tensor(inputs[i]); };
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (g.inputs[i]->type.is_tensor())
      g.inputs[i]->type = Type::tensor(g.inputs[i]->type.dtype, input_shapes[i]);
  for (const size_t i : value_inputs) fix(i);
  if (!value_inputs.empty()) trail.forget();
  infer_shapes(*model);
  specialize(*model, trail);
  while (!inputs.empty() && !trail.follows()) {
    bool more = false;
    for (const size_t i : shape_value_inputs(*model)) {
      if (!inputs[i].defined() ||
          std::find(value_inputs.begin(), value_inputs.end(), i) != value_inputs.end())
        continue;
      value_inputs.push_back(i);
      fix(i);
      more = true;
    }
    if (!more) break;
    trail.forget();
    infer_shapes(*model);
    specialize(*model, trail);
  }
  std::sort(value_inputs.begin(), value_inputs.end());
  cut_dynamic_part(*model);
  return plan_of(*model, trail);
}

std::shared_ptr<const Plan> PlanBuilder::build_open(const InputExtents& extents,
                                                    std::span<const std::pair<size_t, Tensor>> values) {
  const BlockReuse reuse(kReusedBytes);
  const PositiveSymbols positive(extents.dims());
  const auto model = clone_model(*canonical_);
  Graph& g = *model->graph;
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (g.inputs[i]->type.is_tensor())
      g.inputs[i]->type = Type::tensor(g.inputs[i]->type.dtype, extents.dims()[i]);
  const std::vector<Value*> inputs = g.inputs;
  for (const auto& [i, value] : values) inputs[i]->set_tensor(value);
  infer_shapes(*model);
  Trail trail(*this, nullptr);
  specialize(*model, trail);
  if (config_.optimize && edits_of(run_stage(*model, PassStage::kOpen)) > 0) infer_shapes(*model);
  const OpenParts parts = cut_open_parts(*model);
  if (parts.inside > kMaxOpen * static_cast<double>(parts.inside + parts.outside)) return nullptr;
  return plan_of(*model, trail);
}

std::vector<std::optional<Shape>> PlanBuilder::output_shapes(std::span<const Shape> input_shapes) const {
  const auto model = clone_model(*canonical_);
  Graph& g = *model->graph;
  for (size_t i = 0; i < g.inputs.size(); ++i)
    if (g.inputs[i]->type.is_tensor())
      g.inputs[i]->type = Type::tensor(g.inputs[i]->type.dtype, input_shapes[i]);
  infer_shapes(*model);
  std::vector<std::optional<Shape>> shapes;
  for (const Value* v : g.outputs) shapes.push_back(shape_of(v));
  return shapes;
}

std::shared_ptr<const Plan> PlanBuilder::plan_of(Model& model, Trail& trail) {
  Graph& g = *model.graph;
  if (config_.optimize) trail.run(model, PassStage::kIdioms);
  compute_outputs(g);
  const TacticConfig tactics = {.threads = config_.threads,
                                .layouts = config_.target->layouts(),
                                .precisions = config_.precisions,
                                .quantized = &quantized_,
                                .findings = findings_};
  {
    // Idioms that no tactic takes become the nodes they stand for.
    OptionMaker maker(model, tactics, config_.tactics);
    dissolve_regions(model, [&](const Node& n) { return maker.options_of(node_region(n)).options.empty(); });
  }
  std::optional<TypeHolds> holds;
  if (!config_.types.empty()) holds.emplace(config_.types, model);
  OptionMaker maker(model, tactics, config_.tactics, holds ? &*holds : nullptr);
  if (holds)
    take_unmet(holds->prepare(
        model, [&](const Region& region) { return maker.options_of(region); },
        config_.quantization != nullptr ? &quantize_report_ : nullptr));
  EstimatedCosts estimated;
  std::optional<MeasuredCosts> measured;
  if (config_.timing_cache != nullptr && config_.has_data)
    measured.emplace(*config_.target, *config_.timing_cache, *config_.constants, config_.pool,
                     config_.timing);
  ChoiceProgress progress;
  SelectHooks hooks{.filter = config_.filter, .progress = {}, .memory = config_.memory.get()};
  if (config_.on_progress) {
    hooks.progress = [&](size_t done, size_t total) {
      progress = {
          .done = done, .total = total, .measured = {}, .from_cache = measured ? measured->found() : 0};
      config_.on_progress(progress);
    };
    if (measured)
      measured->progress = [&](const std::string& problem) {
        progress.measured = problem;
        config_.on_progress(progress);
      };
  }
  NetworkChoice chosen;
  if (measured)
    chosen = choose_in_network(model, maker, *measured, hooks,
                               {.target = *config_.target,
                                .cache = *config_.timing_cache,
                                .constants = *config_.constants,
                                .pool = config_.pool,
                                .timing = config_.timing,
                                .tactics = tactics_of(config_.tactics),
                                .threads = config_.threads});
  else
    chosen.choices = select(model, maker, estimated, hooks);
  std::vector<Choice>& choices = chosen.choices;
  say_why(model, choices, holds ? &*holds : nullptr);
  reports_.clear();
  if (config_.reports) report(choices);
  LoweredPlan lowered = lower_choices(model, maker, choices, config_.threads, *config_.constants,
                                      {.has_data = config_.has_data, .takes = &model == canonical_.get()});
  resolve_outputs(lowered);
  place_values(lowered);
  if (config_.memory != nullptr) config_.memory->learn(lowered.plan);
  if (config_.built != nullptr) ++(config_.is_part ? config_.built->parts : config_.built->whole);
  if (config_.bodies_ahead) plan_bodies(lowered.plan);
  return std::make_shared<Plan>(std::move(lowered.plan));
}

void PlanBuilder::plan_bodies(Plan& plan) {
  for (const Step& step : plan.steps) {
    if (step.tactic != tactic_control::def.name) continue;
    // The first of its networks is the node itself.
    for (size_t i = 1; i < step.networks.size(); ++i) {
      PlanNetwork& network = plan.networks[static_cast<size_t>(step.networks[i])];
      std::vector<Shape> shapes;
      for (const Value* v : network.model->graph->inputs)
        if (v->type.has_shape())
          if (auto shape = known_shape(*v->type.dims)) shapes.push_back(std::move(*shape));
      if (shapes.size() != network.model->graph->inputs.size()) continue;
      try {
        PlanBuilder builder(*network.model, config_inside());
        const auto body = builder.build(shapes);
        if (waits_for_shapes(*body)) continue;
        network.plan = body;
        reports_.insert(reports_.end(), builder.reports_.begin(), builder.reports_.end());
        take_unmet(builder.unmet_);
      } catch (const Error& e) {
        // A branch that is wrong for these shapes may be one that is not taken: it fails when it is.
        if (e.code() != ErrorCode::kInvalidModel) throw;
      }
    }
  }
}

bool waits_for_shapes(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const Step& s) { return s.tactic == tactic_network::def.name; });
}

void PlanBuilder::say_why(const Model& model, std::span<Choice> choices, const TypeHolds* holds) {
  near_misses_.clear();
  if (config_.precisions == Precisions() && config_.quantization == nullptr && quantized_.empty() &&
      holds == nullptr)
    return;
  for (Choice& c : choices) {
    if (!c.option().candidate.views.empty()) continue;
    const DType type = computed_type(c.region, c.option().candidate, holds, model);
    const bool is_held =
        holds != nullptr && std::any_of(c.region.nodes.begin(), c.region.nodes.end(),
                                        [&](const Node* n) { return holds->held(*n) == type; });
    if (is_held) {
      c.why = fmt::format("held in {}", dtype_name(type));
    } else if (type == DType::kFloat32) {
      c.why = why_float32(model, c);
      note_near_miss(model, c);
    }
  }
  std::stable_sort(near_misses_.begin(), near_misses_.end(),
                   [](const NearMiss& a, const NearMiss& b) { return a.multiply_adds > b.multiply_adds; });
}

/// The quantization's options hold the node in float32.
bool PlanBuilder::is_float_node(const Node& n) const {
  const std::vector<std::string> names = origins_of(n);
  return config_.quantization != nullptr &&
         std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return config_.quantization->float_nodes.contains(name);
         });
}

/// Of a region in float32 that nothing holds.
void PlanBuilder::note_near_miss(const Model& model, const Choice& c) {
  if (has_narrower(c) || is_float_node(*c.region.main)) return;
  int64_t work = 0;
  for (const Node* n : c.region.nodes)
    work += multiply_accumulates(*n, find_op(*n, model)).number().value_or(0);
  if (work == 0) return;
  std::string reason =
      config_.quantization != nullptr ? quantization_reason(*c.region.main, quantize_report_) : std::string();
  if (reason.empty()) reason = refusal_of_narrower(c);
  if (reason.empty()) reason = fmt::format("{} has no algorithm in a narrower type", c.region.main->op_type);
  near_misses_.push_back({.layer = fmt::format("{}", fmt::join(origins_of(c.region), " + ")),
                          .reason = std::move(reason),
                          .multiply_adds = work});
}

/// Why the tactics that compute products in narrower types had no candidate; empty: none of them said so.
std::string PlanBuilder::refusal_of_narrower(const Choice& c) const {
  const auto by = [&](std::string_view prefix) {
    const auto& all = c.options.refusals;
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const Refusal& r) { return r.tactic.starts_with(prefix); });
    return it == all.end() ? std::string() : it->reason;
  };
  std::string reason;
  if (config_.quantization != nullptr || !quantized_.empty()) reason = by("int8_");
  if (reason.empty() && config_.precisions != Precisions()) reason = by("panel_");
  return reason;
}

/// Of a region that nothing holds.
std::string PlanBuilder::why_float32(const Model& model, const Choice& c) const {
  if (has_narrower(c)) return "faster than narrower types";
  if (config_.quantization != nullptr && is_main_operator(*c.region.main, model))
    if (std::string reason = quantization_reason(*c.region.main, quantize_report_); !reason.empty())
      return "not in 8 bits: " + reason;
  return "no algorithm in a narrower type";
}

void PlanBuilder::report(std::span<const Choice> choices) {
  for (const Choice& c : choices) {
    RegionReport r;
    r.origins = origins_of(c.region);
    for (const Option& o : c.options.options) r.noise = std::max(r.noise, o.noise);
    for (size_t i = 0; i < c.options.options.size(); ++i)
      r.candidates.push_back(
          {c.options.options[i].name(), c.options.options[i].seconds, i == c.chosen, {}, {}, 0});
    if (!r.candidates.empty()) {
      const Candidate& chosen = c.option().candidate;
      RegionReport::Line& line = r.candidates[c.chosen];
      line.inputs = formats_of(chosen.inputs);
      line.outputs = formats_of(chosen.outputs);
      line.scratch_bytes = chosen.step.scratch_bytes;
    }
    r.refusals = c.options.refusals;
    reports_.push_back(std::move(r));
  }
}

BuildConfig default_config(int threads, std::shared_ptr<const Target> target) {
  BuildConfig config;
  config.threads = threads > 0 ? threads : available_cpus();
  config.tactics.set = {target, &target->tactics()};
  config.target = std::move(target);
  return config;
}

std::string reports_text(std::span<const RegionReport> reports) {
  std::string text;
  for (const RegionReport& r : reports) {
    std::string origins;
    for (const std::string& name : r.origins) origins += (origins.empty() ? "" : ", ") + name;
    text += fmt::format("region {}\n", origins);
    if (r.noise > 0) text += fmt::format("  times differ by {:.0f} %\n", std::ceil(100 * r.noise));
    for (const RegionReport::Line& line : r.candidates)
      text += fmt::format("  {} {} {:.1f} us\n", line.chosen ? "*" : " ", line.candidate, line.seconds * 1e6);
    for (const Refusal& refusal : r.refusals)
      text += fmt::format("    not {}: {}\n", refusal.tactic, refusal.reason);
  }
  return text;
}

}  // namespace assay::engine
