// Builds plans of a model.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <span>

#include "engine/plan/plan_file.h"
#include "engine/planner/lowering.h"
#include "engine/planner/measured_costs.h"
#include "engine/specialize/input_extents.h"
#include "engine/target/target.h"
#include "passes/pass_manager.h"
#include "transform/quantize.h"

namespace assay::engine {

/// Progress of the choice of a plan.
struct ChoiceProgress {
  size_t done = 0, total = 0;  ///< groups of nodes
  std::string measured;        ///< the candidates, while they are measured
  size_t from_cache = 0;       ///< times found in the timing cache
};

/// Plans built for a network, and for parts of it that are planned by themselves: bodies, and what waits for
/// shapes.
struct PlanCounts {
  std::atomic<size_t> whole = 0, parts = 0;
};

/// Configuration of the builder.
struct BuildConfig {
  int threads = 1;
  /// The target of plans: its layouts, its clock, and its tactics unless `tactics` has a set.
  std::shared_ptr<const Target> target = cpu_target();
  /// False: only the passes that the engine requires.
  bool optimize = true;
  /// Options of the passes.
  PassOptions passes;
  TacticRules tactics;
  Precisions precisions;
  TypeRules types;
  /// The scales of the network's quantization; null: none. Networks inside it are never quantized.
  std::shared_ptr<const QuantizeOptions> quantization;
  /// Removes options of a region; their times are known. Null: none.
  std::function<void(const Region&, std::vector<Option>&)> filter;
  std::function<void(const ChoiceProgress&)> on_progress;
  /// Measures candidates and stores the times there; null: estimates decide.
  std::shared_ptr<TimingCache> timing_cache;
  TimingOptions timing;
  /// Kernels are measured on its threads; null: on the caller's.
  std::shared_ptr<ThreadPool> pool;
  /// Shared by the plans of a model and of the networks in them; null: a new one.
  std::shared_ptr<ConstantCache> constants;
  /// Plans for bodies of control flow are made together with the enclosing network's if their shapes are
  /// known; false: when they first run.
  bool bodies_ahead = true;
  /// Choices of the network's plans, reused for similar shapes; new plans are added. Null: each plan is
  /// chosen independently.
  std::shared_ptr<ChoiceMemory> memory;
  /// False: reports() is not needed.
  bool reports = true;
  /// Counts plans as they are built; null: they are not counted. `is_part`: the network is a part of another
  /// one.
  std::shared_ptr<PlanCounts> built;
  bool is_part = false;
  /// False: the plan is only descriptive. Its constants have no data, so it cannot be run, and nothing is
  /// measured.
  bool has_data = true;
};

/// The report of the choice for one region of a plan.
struct RegionReport {
  std::vector<std::string> origins;  ///< names of ONNX nodes
  double noise = 0;  ///< by which share times of the fastest candidates differed; 0: none was measured
  struct Line {
    std::string candidate;
    double seconds = 0;
    bool chosen = false;
    /// Of the chosen one.
    std::vector<OperandFormat> inputs, outputs;
    int64_t scratch_bytes = 0;
  };
  std::vector<Line> candidates;
  std::vector<Refusal> refusals;
};

/// Builds plans of one model, one for each set of input shapes. Shape-independent work is done once, and
/// packed weights are shared between the plans. Not thread-safe.
class PlanBuilder {
 public:
  /// Converts a copy of the model to canonical form.
  /// Throws Error naming a node that violates a rule.
  PlanBuilder(const Model& model, BuildConfig config);
  /// Changes the configuration of later plans, to one with the same canonical form. Packed weights stay
  /// shared with earlier plans.
  void configure(BuildConfig config);

  /// The plan for inputs of these shapes, in the order of the model's inputs; those of containers do not
  /// matter. Throws Error naming the node.
  std::shared_ptr<const Plan> build(std::span<const Shape> input_shapes);
  /// The same for given inputs; undefined ones are unknown. `value_inputs` has positions of inputs for whose
  /// elements earlier plans were made; these and others found to determine shapes become constants of the
  /// plan, and `value_inputs` then has all of them, sorted.
  std::shared_ptr<const Plan> build(std::span<const Shape> input_shapes, std::span<const Tensor> inputs,
                                    std::vector<size_t>& value_inputs);
  /// The same for the last shapes to be requested. Takes less memory: the builder's weights are released as
  /// soon as steps have theirs, and no further plan may be requested.
  std::shared_ptr<const Plan> build_last(std::span<const Shape> input_shapes, std::span<const Tensor> inputs,
                                         std::vector<size_t>& value_inputs);
  /// A plan for all shapes covered by extents; shapes of values that do not depend on open ones are known,
  /// and parts of it wait for the rest. `values` are elements of inputs that it is for, by their positions.
  /// Null if little of the network would remain outside of such parts.
  std::shared_ptr<const Plan> build_open(const InputExtents& extents,
                                         std::span<const std::pair<size_t, Tensor>> values = {});
  /// The shapes of the network's outputs for inputs of these shapes; nothing if known only at run time.
  /// Throws Error naming the node.
  std::vector<std::optional<Shape>> output_shapes(std::span<const Shape> input_shapes) const;
  /// Reports of the last plan, in the order of its regions, followed by those of bodies planned with it.
  const std::vector<RegionReport>& reports() const { return reports_; }

  /// Reports of the passes over all networks so far, each pass once, in the order of first runs.
  const std::vector<PassReport>& pass_reports() const { return pass_reports_; }

  const BuildConfig& config() const { return config_; }
  /// The outcome of config().quantization for the network's products.
  const QuantizeReport& quantize_report() const { return quantize_report_; }
  /// Requests of config().types that were not honored so far, if that is not an error.
  const std::vector<UnmetWish>& unmet() const { return unmet_; }
  /// Of the last plan: the products that narrower types were allowed for and that have no algorithm in them,
  /// those with most multiply-adds first.
  const std::vector<NearMiss>& near_misses() const { return near_misses_; }
  /// The network after shape-independent passes, still in ONNX.
  const Model& canonical() const { return *canonical_; }

 private:
  class Trail;
  /// The passes with edits for some input shapes, by
  /// run; a run without any ends the rounds of a stage.
  struct PassRuns {
    std::vector<Shape> shapes;
    std::vector<std::vector<const PassDef*>> runs;
    bool waits = false;  ///< the plan waits for shapes
  };

  void hold_types();
  /// Throws Error naming them if requests must be honored.
  void take_unmet(std::vector<UnmetWish> unmet);
  void quantize_network();
  std::vector<PassReport> run_stage(Model& model, PassStage stage) const;
  void note_passes(const std::vector<PassReport>& reports) const;
  void specialize(Model& model, Trail& trail) const;
  const PassRuns* near_runs(std::span<const Shape> input_shapes) const;
  std::shared_ptr<const Plan> build_from(const std::shared_ptr<Model>& model,
                                         std::span<const Shape> input_shapes, std::span<const Tensor> inputs,
                                         std::vector<size_t>& value_inputs, Trail& trail);
  /// canonical_ itself loses its weights to the plan.
  std::shared_ptr<const Plan> plan_of(Model& model, Trail& trail);
  void plan_bodies(Plan& plan);
  void report(std::span<const Choice> choices);
  /// Reasons for float32 where other types are allowed.
  void say_why(const Model& model, std::span<Choice> choices, const TypeHolds* holds);
  void note_near_miss(const Model& model, const Choice& c);
  bool is_float_node(const Node& n) const;
  std::string refusal_of_narrower(const Choice& c) const;
  std::string why_float32(const Model& model, const Choice& c) const;
  BuildConfig config_inside() const;

  BuildConfig config_;
  std::shared_ptr<Model> canonical_;
  QuantizedConstants quantized_;
  std::shared_ptr<ConstantFindings> findings_ = std::make_shared<ConstantFindings>();
  std::list<PassRuns> pass_runs_;  ///< the last first
  QuantizeReport quantize_report_;
  std::vector<RegionReport> reports_;
  mutable std::vector<PassReport> pass_reports_;
  std::vector<UnmetWish> unmet_;
  std::vector<NearMiss> near_misses_;
};

/// True for a plan with parts that are prepared at run time, when their shapes are known.
bool waits_for_shapes(const Plan& plan);

/// The configuration for a target with `threads` threads (0: the CPUs this process may use). Estimates
/// decide.
BuildConfig default_config(int threads, std::shared_ptr<const Target> target = cpu_target());

/// For --explain: each region with its candidates, their times, and why the others were refused.
std::string reports_text(std::span<const RegionReport> reports);

}  // namespace assay::engine
