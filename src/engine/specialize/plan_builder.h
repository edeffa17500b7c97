// From a model to plans.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <span>

#include "engine/planner/lowering.h"
#include "engine/planner/measured_costs.h"
#include "engine/specialize/input_extents.h"
#include "engine/target/target.h"
#include "passes/pass_manager.h"
#include "transform/quantize.h"

namespace assay::engine {

/// How far the choice of a plan is.
struct ChoiceProgress {
  size_t done = 0, total = 0;  ///< groups of nodes
  std::string measured;        ///< what competes, where something is being measured
  size_t from_cache = 0;       ///< times that the timing cache knew
};

/// What the builder may do, and how it decides.
struct BuildConfig {
  int threads = 1;
  /// What plans are made for: its layouts, its tactics unless `tactics` has a set, its clock.
  std::shared_ptr<const Target> target = cpu_target();
  /// False: only the passes that the engine cannot do without.
  bool optimize = true;
  /// Which passes run, and how far.
  PassOptions passes;
  TacticRules tactics;
  Precisions precisions;
  TypeRules types;
  /// By what scales the network is quantized; null: it is not. Networks inside it are not in any case.
  std::shared_ptr<const QuantizeOptions> quantization;
  /// Takes options away from a region's; their times are known. Null: none are.
  std::function<void(const Region&, std::vector<Option>&)> filter;
  std::function<void(const ChoiceProgress&)> on_progress;
  /// Measures candidates and keeps the times there; null: estimates decide.
  std::shared_ptr<TimingCache> timing_cache;
  TimingOptions timing;
  /// Kernels are measured on its threads; null: on the caller's.
  std::shared_ptr<ThreadPool> pool;
  /// Shared by the plans of a model and of the networks in them; null: a new one.
  std::shared_ptr<ConstantCache> constants;
  /// Plans for bodies of control flow are made along with that of the network around them, where their shapes
  /// are known; false: when they run for the first time.
  bool bodies_ahead = true;
  /// Of the network's plans: what they chose serves shapes that are near, and plans that are built go into
  /// it. Null: each plan is chosen on its own.
  std::shared_ptr<ChoiceMemory> memory;
  /// False: nobody asks for reports().
  bool reports = true;
  /// False: the plan only says what would be done. Its constants have no data, so it cannot be run, and
  /// nothing is measured.
  bool has_data = true;
};

/// How one region of a plan came to run as it does.
struct RegionReport {
  std::vector<std::string> origins;  ///< names of ONNX nodes
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

/// Makes plans of one model, one for each set of input shapes. What does not depend on shapes is done once,
/// and packed weights are shared between the plans. Not thread-safe.
class PlanBuilder {
 public:
  /// Brings the model into canonical form; the given one is not changed. Throws Error naming the node that
  /// breaks a rule.
  PlanBuilder(const Model& model, BuildConfig config);
  /// From now on plans are made with another configuration: one under which the canonical form is the same.
  /// What is made of weights stays shared with the plans before.
  void configure(BuildConfig config);

  /// The plan for inputs of these shapes, in the order of the model's inputs; those of containers do not
  /// matter. Throws Error naming the node.
  std::shared_ptr<const Plan> build(std::span<const Shape> input_shapes);
  /// The same for given inputs; undefined ones are not known. `value_inputs` holds positions of inputs whose
  /// elements plans have been made for before; they and others that turn out to decide about shapes go into
  /// the plan as constants, and all of them are in `value_inputs` then, sorted.
  std::shared_ptr<const Plan> build(std::span<const Shape> input_shapes, std::span<const Tensor> inputs,
                                    std::vector<size_t>& value_inputs);
  /// The same for the last shapes that will be asked for. Takes less memory: of the builder's network weights
  /// go as soon as steps have theirs, and no further plan may be asked for.
  std::shared_ptr<const Plan> build_last(std::span<const Shape> input_shapes, std::span<const Tensor> inputs,
                                         std::vector<size_t>& value_inputs);
  /// A plan for all shapes that extents hold; it knows those of values that do not depend on open ones, and
  /// parts of it wait for the rest. Null where little of the network would be left outside of such parts.
  std::shared_ptr<const Plan> build_open(const InputExtents& extents);
  /// The shapes that the network's outputs have with inputs of these shapes; nothing where only a run tells.
  /// Throws Error naming the node.
  std::vector<std::optional<Shape>> output_shapes(std::span<const Shape> input_shapes) const;
  /// Of the last plan, in the order of its regions; those of bodies that were planned along with it follow.
  const std::vector<RegionReport>& reports() const { return reports_; }

  /// What the passes did to all networks so far, each pass once, in the order in which they first ran.
  const std::vector<PassReport>& pass_reports() const { return pass_reports_; }

  const BuildConfig& config() const { return config_; }
  /// What became of the network's products by config().quantization.
  const QuantizeReport& quantize_report() const { return quantize_report_; }
  /// Wishes of config().types that were not followed so far: where they are no error.
  const std::vector<UnmetWish>& unmet() const { return unmet_; }
  /// The network after the passes that no shapes are needed for: ONNX still.
  const Model& canonical() const { return *canonical_; }

 private:
  class Trail;
  /// Which passes changed something for some input shapes, by their runs; a run of none ends the rounds of a
  /// stage.
  struct PassRuns {
    std::vector<Shape> shapes;
    std::vector<std::vector<const PassDef*>> runs;
    bool waits = false;  ///< the plan waits for shapes
  };

  void hold_types();
  /// Throws Error that names them where wishes must be followed.
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
  /// Of what computes in float32 where other types are allowed.
  void say_why(const Model& model, std::span<Choice> choices, const TypeHolds* holds) const;
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
};

/// True for a plan with parts that are made ready when their shapes are known: in its run.
bool waits_for_shapes(const Plan& plan);

/// The configuration for a target with `threads` threads (0: the CPUs this process may use). Estimates
/// decide.
BuildConfig default_config(int threads, std::shared_ptr<const Target> target = cpu_target());

/// For --explain: each region with its candidates, their times, and why the others were refused.
std::string reports_text(std::span<const RegionReport> reports);

}  // namespace assay::engine
