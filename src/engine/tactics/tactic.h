// The interface of tactics, each a source of candidates that run a region. One TacticDef per tactic, in one
// file src/engine/tactics/<name>.cpp, named once in tactics.def.
//
// A tactic gets a region, the shapes of its values and the configuration, and proposes any number of
// candidates: a step as data, the format of every operand, the class of its numerics, scratch memory.
// Otherwise it returns a sentence why it has none. The selector chooses by measured time; the runtime creates
// the chosen step's kernel from the plan alone.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/quantization.h"
#include "assay/graph.h"
#include "engine/plan/plan.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/step_fields.h"
#include "engine/tactics/pointwise/region.h"
#include "ops/op_context.h"
#include "reference/evaluate.h"

namespace assay::engine {

/// The accuracy of a candidate's results compared with the reference evaluation's.
enum class NumericsClass : uint8_t {
  kExact,         ///< the same values moved, or the same operations in the same order
  kReassociated,  ///< float32 with sums in another order
  kLowered,       ///< fewer bits, or an algorithm with larger rounding errors
};

/// The element type of a value in memory; kUndefined for values other than tensors.
DType stored_type(const Value* v, Format format);

/// A cache of tactics' findings about one network, because blocks repeat and regions overlap.
class TacticMemo {
 public:
  /// The cached result of `make` for this key, else a new one. The key begins with the kind of query, which
  /// determines T, and has everything that the result depends on besides the TacticConfig.
  template <typename T, typename Make>
  const T& get(const std::string& key, Make make) {
    std::shared_ptr<const void>& known = known_[key];
    if (known == nullptr) known = std::make_shared<const T>(make());
    return *static_cast<const T*>(known.get());
  }

 private:
  std::unordered_map<std::string, std::shared_ptr<const void>> known_;
};

/// Findings about constants, shared by plans for all shapes.
struct ConstantFindings {
  std::unordered_set<const void*> addresses;  ///< of the constants, which do not move
  TacticMemo memo;
};

/// Properties of the machine and requests of the caller, for tactics.
struct TacticConfig {
  int threads = 1;
  /// Layouts that float32 images may have besides the row-major one, the usual one for this CPU first.
  std::vector<Layout> layouts;
  Precisions precisions;
  /// Constants that the model stores in 8 bits, before they were folded; null: none.
  const QuantizedConstants* quantized = nullptr;
  /// For one network whose constants do not move.
  std::shared_ptr<TacticMemo> memo = std::make_shared<TacticMemo>();
  /// Null: no sharing of constants with other plans.
  std::shared_ptr<ConstantFindings> findings;

  /// For keys that hold the address of this constant.
  TacticMemo& memo_of(const UnalignedTensor& t) const {
    return findings != nullptr && findings->addresses.contains(t.data()) ? findings->memo : *memo;
  }
};

/// A region to be run, with known properties of its values.
class Problem {
 public:
  /// `variant`: see wants().
  Problem(const Region& region, const Model& model, const TacticConfig& config, std::string_view variant = {})
      : region_(region), model_(model), config_(config), variant_(variant) {}
  virtual ~Problem() = default;

  const Region& region() const { return region_; }
  /// The region's main node; its only one for a single node.
  const Node& node() const { return *region_.main; }
  const Model& model() const { return model_; }
  const TacticConfig& config() const { return config_; }
  /// The definition of node()'s operator; empty for idioms and unknown operators.
  BoundOp op() const { return bind_op(node(), model_); }
  /// Attributes of node() with schema defaults.
  OpContext attributes() const;

  // Of node().
  size_t input_count() const { return node().inputs().size(); }
  size_t output_count() const { return node().outputs().size(); }
  bool has_input(size_t i) const { return node().input(i) != nullptr; }
  DType input_dtype(size_t i) const;
  DType output_dtype(size_t i) const;
  /// Extents, when they are all known before the run.
  const Shape* input_shape(size_t i) const { return shape(node().input(i)); }
  /// Data of a constant input; null for others.
  const UnalignedTensor* input_constant(size_t i) const;
  /// The type of the region's output.
  const Shape* output_shape(size_t i) const { return shape(region_.output(i)); }

  /// The 8-bit form of a constant float32 value, if it represents exactly the same numbers; else null.
  virtual const QuantizedConstant* quantized_constant(const Value* v) const = 0;

  /// Extents of any value, when they are all known before the run; null for null.
  virtual const Shape* shape(const Value* v) const = 0;

  /// True when a candidate of this variant would be considered: if candidates are expensive to find, others
  /// may be skipped.
  bool wants(std::string_view variant) const { return variant_.empty() || variant_ == variant; }

  /// The layouts to propose for values of this type and shape: row-major first.
  std::vector<Layout> layouts(DType dtype, const Shape& shape) const;
  /// Whether float32 values may be stored in bfloat16: that is allowed, and there are products that read it.
  bool stores_bfloat16() const;

 private:
  const Region& region_;
  const Model& model_;
  const TacticConfig& config_;
  std::string_view variant_;
};

/// A value of the problem may have a Format of this type instead of its own: it is a float32 tensor that the
/// network computes and does not give to the caller. False for kUndefined.
bool may_be_stored_in(const Problem& p, const Value* v, DType narrow);

/// One candidate for running a region, written by a tactic.
class Candidate {
 public:
  /// An operand of the step.
  struct Operand {
    const Value* value = nullptr;  ///< null: omitted, or a constant of the step
    Format format;
    /// A constant of the step: its source, packing,
    /// name, creator and the weights it represents.
    std::string key, name;
    std::function<Tensor()> make;
    UnalignedTensor source;
  };
  /// Not a step: `value` is, in `format`, in the memory of `source` in `source_format`, `offset` bytes from
  /// its start.
  struct View {
    const Value *value, *source;
    Format format;
    Format source_format;
    int64_t offset;
  };

  /// Appends a step input: a value of the graph in this format (reorder steps are added where it is in
  /// another).
  void add_input(const Value* v, Format format = {}) { inputs.push_back({.value = v, .format = format}); }
  /// Appends an omitted input.
  void skip_input() { inputs.emplace_back(); }
  /// Appends a constant of the step, created from `source`. Constants of one source and one `packing` are
  /// created once; `packing` identifies everything else that the result depends on. `make` is called later,
  /// so it must own its data.
  void add_constant(std::string name, const UnalignedTensor& source, std::string packing,
                    std::function<Tensor()> make) {
    inputs.push_back(
        {.key = std::move(packing), .name = std::move(name), .make = std::move(make), .source = source});
  }
  /// Appends a step output: the value will have this format.
  void add_output(const Value* v, Format format = {}) { outputs.push_back({.value = v, .format = format}); }
  void skip_output() { outputs.emplace_back(); }
  /// Appends parameters (step_fields.h).
  template <typename Fields>
  void write(Fields fields) {
    write_fields(std::move(fields), step.parameters);
  }
  /// Nothing else may be called then. May be called for several outputs.
  void add_view(const Value* v, Format format, const Value* source, Format source_format, int64_t offset) {
    views.push_back({v, source, format, source_format, offset});
  }

  /// The variant of the tactic: "blocked8", "row". Distinguishes candidates of one tactic in reports and
  /// pins.
  std::string variant;
  NumericsClass numerics = NumericsClass::kReassociated;
  /// The element type of the factors of its products if that differs from the graph's: 16-bit weights, 8-bit
  /// integers. kUndefined: the graph's.
  DType arithmetic = DType::kUndefined;
  std::vector<Operand> inputs, outputs;
  std::vector<View> views;
  Step step;
  /// Nodes embedded in the step: created when the
  /// candidate is chosen, while the region's graph exists.
  std::vector<std::function<std::shared_ptr<const Model>()>> networks;
  /// Its constants are those that the model stores, in a few bits, where others have them dequantized.
  bool reads_stored = false;
  /// Steps with the same key share the networks of the first of them; null: not shared.
  const void* shares_networks = nullptr;
  /// For the choice without measurements: seconds that it may take on one core of a common CPU.
  double estimate = 0;
};

/// The cost model of choices without measurements: work at a fraction of a core's peak rate, but not faster
/// than memory delivers the bytes that are not in a cache.
double estimate_seconds(double operations, double bytes, double efficiency);
/// The same for work bound by reading its weights from memory.
double estimate_with_weights(double operations, double weight_bytes, double efficiency);

/// Receives a tactic's candidates.
class Proposals {
 public:
  /// Begins a candidate.
  Candidate& add(std::string variant, NumericsClass numerics);
  std::vector<Candidate>& candidates() { return candidates_; }

 private:
  std::vector<Candidate> candidates_;
};

/// The code of a tactic with its own data, such as one from an extension module.
class CustomTactic : public KernelMaker {
 public:
  /// Like TacticDef::propose.
  virtual std::string propose(const Problem& problem, Proposals& proposals) const = 0;
};

/// One line of tactics.def.
struct TacticDef {
  std::string_view name;
  std::string_view summary;  ///< its kernel and how it runs it, for listings
  /// Incremented when a kernel's speed or results change: timings of other versions are ignored.
  int version = 1;
  /// Operators of the default domain that it serves as a region's main node; regions as in `assay.Silu`.
  std::span<const std::string_view> operators;
  /// Decides by an operator's facts, in any domain, modules included, whether the tactic serves it, too.
  bool (*serves)(const OpFacts&) = nullptr;
  /// It accepts Fused and Pointwise regions as well as single nodes.
  bool takes_regions = false;
  /// Of the Fused ones also those that end with a function of 8-bit values (Region::lookup).
  bool looks_up = false;
  /// Adds candidates, or returns the sentence that says why it has none.
  std::string (*propose)(const Problem&, Proposals&) = nullptr;
  KernelFactory factory;
  /// In place of `propose`; then it is the factory's maker, too.
  const CustomTactic* custom = nullptr;

  std::string ask(const Problem& problem, Proposals& proposals) const {
    return custom != nullptr ? custom->propose(problem, proposals) : propose(problem, proposals);
  }
};

}  // namespace assay::engine
