#include "run/equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analysis/match.h"
#include "arbiter/arbiter.h"
#include "assay/edit.h"
#include "assay/interrupt.h"
#include "backends/onnxrt_nodes.h"
#include "base/diagnostics.h"
#include "base/wording.h"
#include "graph/clone.h"
#include "graph/read.h"
#include "graph/topological_scope.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "reference/evaluate.h"
#include "reference/interpreter.h"
#include "run/trial_data.h"
#include "run/trial_results.h"
#include "tensor/convert.h"

namespace assay {
namespace {

/// The feed in the order of another graph's inputs, by name. An input that the graph has and the feed lacks
/// makes it undefined.
std::vector<Tensor> reorder(const TensorList& feed, const Graph& g) {
  std::vector<Tensor> list;
  for (const Value* v : g.inputs) {
    const Tensor* found = nullptr;
    for (const NamedTensor& t : feed)
      if (t.name == v->name()) found = &t.tensor;
    require(found != nullptr, ErrorCode::kUnsupported, "the changed model has no input '{}'", v->name());
    list.push_back(*found);
  }
  return list;
}

/// The outputs, each rounded once to its declared type. Containers are left out.
TensorList evaluate(const std::shared_ptr<const Model>& model, const std::vector<Tensor>& feed,
                    ReferencePrecision precision, int64_t max_work) {
  TensorList outputs;
  Interpreter interpreter(model,
                          {.precision = precision, .max_work = max_work, .foreign = onnxrt_nodes(model)});
  interpreter.run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
    if (lanes[0].is_container()) return;
    const Tensor t =
        is_float(lanes[0].dtype()) && v.type.is_tensor() ? rounded(lanes[0], v.type.dtype) : lanes[0];
    outputs.push_back({v.name(), t});
  });
  return outputs;
}

std::string shapes_text(const TensorList& feed) {
  std::string text;
  for (const NamedTensor& t : feed)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", t.name, t.tensor.shape().str());
  return text;
}

/// The interpreter does not call functions: a model
/// with functions is compared as an inlined copy.
std::shared_ptr<Model> without_calls(const std::shared_ptr<Model>& model) {
  if (model->functions.empty()) return model;
  std::shared_ptr<Model> inlined = clone_model(*model);
  pass_inline_functions::def.run(*inlined);
  return inlined;
}

/// Values of small constants, near which formulas change.
void collect_constants(const Graph& g, std::set<double>& numbers) {
  constexpr size_t kMax = 256;
  constexpr int64_t kSmall = 8;
  const auto add = [&](const Value* v) {
    const UnalignedTensor* t = v != nullptr ? data_of(v) : nullptr;
    if (t == nullptr || t->is_container() || t->numel() > kSmall || numbers.size() >= kMax) return;
    if (!is_float(t->dtype()) && !is_integer(t->dtype())) return;
    const Tensor values = to_float64(*t);
    for (const double x : values.span<double>())
      if (std::isfinite(x)) numbers.insert(x);
  };
  for (const auto& n : g.nodes())
    for (const Value* v : n->inputs()) add(v);
  for (const Graph* sub : subgraphs(g)) collect_constants(*sub, numbers);
}

bool has_floats(const Model& m) {
  const auto has = [](const Graph& g) {
    return std::any_of(g.values().begin(), g.values().end(),
                       [](const auto& v) { return is_float(dtype_of(v.get())); });
  };
  const std::vector<Graph*> inner = subgraphs(*m.graph, /*recursive=*/true);
  return has(*m.graph) || std::any_of(inner.begin(), inner.end(), [&](const Graph* g) { return has(*g); });
}

/// Tolerance, relative to the largest result, of results in the declared types on ordinary numbers, where
/// each is as accurate as rounding allows: beyond it, in many elements, a different rounding determines the
/// result.
double decided_by_rounding(DType t) {
  switch (t) {
    case DType::kFloat64:
    case DType::kFloat32:
      return 0x1p-6;
    case DType::kFloat16:
      return 0x1p-3;
    default:
      return 0x1p-2;
  }
}

class ModelComparison {
 public:
  ModelComparison(const std::shared_ptr<Model>& original, const std::shared_ptr<Model>& changed,
                  const EquivalenceOptions& options)
      : options_(options), original_(without_calls(original)), changed_(without_calls(changed)) {}

  Equivalence run() {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const TopologicalScope sorted_original(*original_), sorted_changed(*changed_);
    for (const std::shared_ptr<Model>& m : {original_, changed_})
      infer_shapes(*m, {.on_problem = [](const Node&, const std::string&) {}});
    rounds_ = has_floats(*original_) || has_floats(*changed_);
    if (!can_evaluate()) return std::move(result_);
    for (const TensorList& feed : options_.loaded) {
      if (is_wrong_on_loaded(feed)) break;
    }
    if (result_.difference.empty() && options_.trials > 0) search(elapsed);
    // A few of many trials come close to the rounding bound by chance.
    if (result_.difference.empty() && unclear_ * 4 > result_.trials) take_unclear();
    result_.seconds = elapsed();
    return std::move(result_);
  }

 private:
  /// False where a node is beyond the reference.
  bool can_evaluate() {
    try {
      Interpreter(original_, {.foreign = onnxrt_nodes(original_)});
      return true;
    } catch (const Error& e) {
      result_.refused = e.what();
      result_.is_unknown = true;
      return false;
    }
  }

  /// With unintended data a loop may not terminate.
  void limit_loops() {
    constexpr int64_t kMaxLoopWork = int64_t{1} << 33;
    const auto has_loop = [](const Graph& g) {
      return std::any_of(g.nodes().begin(), g.nodes().end(), [](const auto& n) { return is_op(*n, "Loop"); });
    };
    const std::vector<Graph*> inner = subgraphs(*original_->graph, /*recursive=*/true);
    if (has_loop(*original_->graph) ||
        std::any_of(inner.begin(), inner.end(), [&](const Graph* g) { return has_loop(*g); }))
      options_.max_work = std::min(options_.max_work, kMaxLoopWork);
  }

  template <typename Elapsed>
  void search(const Elapsed& elapsed) {
    constexpr int kFirst = 2;
    limit_loops();
    std::set<double> numbers;
    collect_constants(*original_->graph, numbers);
    collect_constants(*changed_->graph, numbers);
    const TrialData data(*changed_, options_.data, {numbers.begin(), numbers.end()});
    std::map<TrialKind, std::string> refusals;
    std::set<TrialKind> done;
    for (int trial = 0; trial < options_.trials; ++trial) {
      stop_if_interrupted();
      if (trial >= kFirst && elapsed() > options_.seconds) break;
      const auto kind = static_cast<TrialKind>(trial % kTrialKinds);
      std::string refused;
      if (try_kind(data, kind, trial, refused))
        done.insert(kind);
      else
        refusals.try_emplace(kind, refused);
      if (!result_.difference.empty()) return;
      // A model that refuses one kind of numbers regardless of values refuses others, too.
      if (result_.trials == 0 && trial + 1 == kFirst) break;
    }
    for (const auto& [kind, reason] : refusals)
      if (!done.contains(kind)) result_.not_done.emplace_back(trial_kind_name(kind), reason);
    if (result_.trials == 0 && !refusals.empty()) result_.refused = refusals.begin()->second;
  }

  /// Tries the shapes of the trial, then others if the original refuses them, then more ordinary numbers.
  bool try_kind(const TrialData& data, TrialKind kind, int trial, std::string& refused) {
    constexpr int kRotating = 4;
    int wanted = trial < 2 ? trial : (trial * 7 / kTrialKinds + trial) % kRotating;
    // If a trial takes long, larger sizes would take longer.
    if (slowest_ > std::chrono::milliseconds(500)) wanted %= 2;
    std::vector<int> variants = {data.has_open_shapes() ? wanted : 0};
    if (data.has_open_shapes() && result_.trials == 0)
      for (int v = 0; v < TrialData::shape_variants(); ++v) variants.push_back(v);
    else if (data.has_open_shapes() && last_good_)
      variants.push_back(*last_good_);
    for (const int variant : variants)
      for (int taming = 0; taming < TrialData::kTamings; ++taming) {
        if (!can_start(data, kind, trial, variant, taming, refused)) continue;
        last_good_ = variant;
        return true;
      }
    return false;
  }

  bool can_start(const TrialData& data, TrialKind kind, int trial, int variant, int taming,
                 std::string& refused) {
    TensorList feed;
    std::vector<Tensor> inputs;
    TrialResults results;
    try {
      feed = data.draw(kind, trial, variant, taming);
      inputs = reorder(feed, *original_->graph);
      const auto start = std::chrono::steady_clock::now();
      results.exact = evaluate(original_, inputs, ReferencePrecision::kFloat64, options_.max_work);
      slowest_ = std::max(slowest_, std::chrono::steady_clock::now() - start);
    } catch (const Error& e) {
      if (refused.empty()) refused = e.what();
      diag::extra_verbose("A trial is replaced by another one: {}", e.what());
      return false;
    }
    finish(kind, std::move(feed), inputs, std::move(results));
    return true;
  }

  bool is_wrong_on_loaded(const TensorList& feed) {
    const std::vector<Tensor> inputs = reorder(feed, *original_->graph);
    TrialResults results;
    try {
      results.exact = evaluate(original_, inputs, ReferencePrecision::kFloat64, options_.max_work);
    } catch (const Error& e) {
      result_.refused = e.what();
      diag::warning("Loaded inputs are left out: the original refuses them: {}", e.what());
      return false;
    }
    finish(std::nullopt, feed, inputs, std::move(results));
    return !result_.difference.empty();
  }

  /// The changed model must accept what the original accepts, with the same results.
  void finish(std::optional<TrialKind> kind, TensorList feed, const std::vector<Tensor>& inputs,
              TrialResults r) {
    judge(kind, feed, inputs, r);
    if (!result_.difference.empty()) result_.feed = std::move(feed);
  }

  void judge(std::optional<TrialKind> kind, const TensorList& feed, const std::vector<Tensor>& inputs,
             TrialResults& r) {
    std::vector<Tensor> changed_inputs;
    try {
      changed_inputs = reorder(feed, *changed_->graph);
      r.changed_exact = evaluate(changed_, changed_inputs, ReferencePrecision::kFloat64, options_.max_work);
    } catch (const Error& e) {
      result_.difference =
          fmt::format("the changed model cannot be evaluated where the original can: {}", e.what());
      return;
    }
    if (r.changed_exact.empty()) {
      result_.difference = "the changed model gives no tensor that could be compared";
      return;
    }
    for (const NamedTensor& t : r.exact)
      if (assay::find(r.changed_exact, t.name) == nullptr) {
        result_.difference = fmt::format("the changed model has no output '{}'", t.name);
        return;
      }
    ++result_.trials;
    if (options_.observer != nullptr)
      options_.observer->on_trial(result_.trials, shapes_text(feed),
                                  kind ? trial_kind_name(*kind) : "loaded inputs", r.changed_exact.size());
    for (const NamedTensor& t : r.changed_exact) result_.elements += t.tensor.numel();
    evaluate_stored(inputs, changed_inputs, r);
    if (identical(r.exact, r.changed_exact) && identical(r.stored, r.changed_stored)) {
      if (options_.observer != nullptr) options_.observer->on_identical();
      return;
    }
    const bool plain = kind ? is_moderate(*kind) : is_plain(feed);
    for (size_t i = 0; i < r.changed_exact.size() && result_.difference.empty(); ++i)
      check_output(i, plain, r);
    if (!result_.difference.empty()) return;
    if (!identical(r.exact, r.changed_exact) && !all_within_one_step(r)) ask_arbiter(feed, inputs, r);
    if (rounded_otherwise_ && result_.difference.empty())
      report_element(rounded_otherwise_->output, rounded_otherwise_->at, rounded_otherwise_->original,
                     rounded_otherwise_->changed,
                     ", when each node's results are of the declared types: another rounding decides");
    rounded_otherwise_.reset();
  }

  /// Finite numbers that are neither large nor small.
  static bool is_plain(const TensorList& feed) {
    constexpr double kPlain = 1e3;
    return std::all_of(feed.begin(), feed.end(), [](const NamedTensor& t) {
      if (!is_float(t.tensor.dtype())) return true;
      const Tensor numbers = to_float64(t.tensor);
      double largest = 0;
      for (const double x : numbers.span<double>())
        largest = std::max(largest, std::isfinite(x) ? std::abs(x) : HUGE_VAL);
      return largest == 0 || (largest < kPlain && largest > 1 / kPlain);
    });
  }

  /// Networks that take longer are not evaluated again; their edits are, separately.
  static constexpr std::chrono::seconds kSlow{4};

  /// Without them, where either cannot be evaluated that way.
  void evaluate_stored(const std::vector<Tensor>& inputs, const std::vector<Tensor>& changed_inputs,
                       TrialResults& r) {
    if (!rounds_ || slowest_ > kSlow) {
      r.stored = r.exact;
      r.changed_stored = r.changed_exact;
      return;
    }
    try {
      r.stored = evaluate(original_, inputs, ReferencePrecision::kStored, options_.max_work);
      r.changed_stored = evaluate(changed_, changed_inputs, ReferencePrecision::kStored, options_.max_work);
    } catch (const Error& e) {
      diag::verbose("    Not evaluated in the declared types: {}", e.what());
      r.stored = r.changed_stored = {};
    }
  }

  void report_element(const std::string& output, int64_t at, double original, double changed,
                      std::string_view how) {
    result_.output = output;
    result_.at = at;
    result_.original = original;
    result_.changed = changed;
    result_.difference = fmt::format("element {} of output '{}' is {:.9g}, and the original's is {:.9g}{}",
                                     at, output, changed, original, how);
  }

  /// Differences that rounding does not excuse; open elements become the original's, to be left unjudged.
  void check_output(size_t i, bool plain, TrialResults& r) {
    NamedTensor& changed = r.changed_exact[i];
    const Tensor* exact = find_like(r.exact, changed);
    if (exact == nullptr || !is_float(exact->dtype())) return;
    const Tensor* stored = find_like(r.stored, changed);
    const Tensor* changed_stored = find_like(r.changed_stored, changed);
    const DType type = exact->dtype();
    const Tensor a = to_float64(*exact), b = to_float64(changed.tensor);
    const Tensor sa = to_float64(stored != nullptr ? *stored : *exact),
                 sb = to_float64(changed_stored != nullptr ? *changed_stored : changed.tensor);
    Tensor patched = b;
    const auto ea = a.span<double>(), eb = b.span<double>(), ra = sa.span<double>(), rb = sb.span<double>();
    Distances distances(decided_by_rounding(type) * largest_finite(ra));
    for (size_t k = 0; k < ea.size(); ++k) {
      const auto at = static_cast<int64_t>(k);
      const ElementResults e{ea[k], eb[k], ra[k], rb[k]};
      switch (relation_of(e)) {
        case ElementRelation::kSame:
          break;
        case ElementRelation::kOpen:
          ++result_.open;
          patched.mutable_span<double>()[k] = e.exact;
          break;
        case ElementRelation::kDiffers:
          return report_element(changed.name, at, e.exact, e.changed, "");
        case ElementRelation::kDiffersStored:
          return report_element(changed.name, at, e.stored, e.changed_stored,
                                ", when each node's results are of the declared types");
        case ElementRelation::kFinite:
          distances.add(at, std::abs(e.changed_stored - e.stored));
      }
    }
    constexpr int64_t kFew = 10;
    if (plain && distances.far * kFew > a.numel() && !rounded_otherwise_) {
      const auto farthest = static_cast<size_t>(distances.farthest);
      rounded_otherwise_ = {changed.name, distances.farthest, ra[farthest], rb[farthest]};
    }
    changed.tensor = convert(patched, type, /*saturate=*/false);
  }

  void ask_arbiter(const TensorList& feed, const std::vector<Tensor>& inputs, const TrialResults& r) {
    StoredTensorList results;
    for (const NamedTensor& t : r.changed_exact) results.push_back({t.name, StoredTensor(t.tensor)});
    const ArbiterCase suspect{"changed model", &results};
    const Arbitration arbitration = arbitrate(original_, inputs, {&suspect, 1});
    if (arbitration.outputs.empty())
      result_.difference = "the changed model shares no output with the original";
    const auto find_verdict = [&](auto holds) {
      return std::find_if(arbitration.outputs.begin(), arbitration.outputs.end(), holds);
    };
    const auto wrong = find_verdict([](const ArbiterVerdict& o) {
      return o.verdict == Verdict::kWrong || o.verdict == Verdict::kNotJudged;
    });
    const auto unclear = find_verdict([](const ArbiterVerdict& o) { return o.verdict == Verdict::kUnclear; });
    if (wrong != arbitration.outputs.end()) {
      if (options_.observer != nullptr) options_.observer->on_verdict(arbitration);
      take(*wrong);
    } else if (unclear != arbitration.outputs.end()) {
      if (unclear_++ == 0) {
        first_unclear_ = *unclear;
        unclear_feed_ = feed;
      }
    }
  }

  void take_unclear() {
    take(first_unclear_);
    result_.feed = unclear_feed_;
  }

  void take(const ArbiterVerdict& o) {
    result_.output = o.output;
    result_.at = o.worst_at;
    result_.original = o.worst_exact;
    result_.changed = o.worst_result;
    result_.difference =
        o.problem.empty()
            ? fmt::format(
                  "element {} of output '{}' is {:.9g}, and the original's is {:.9g}, further apart than "
                  "rounding explains ({:.5g})",
                  o.worst_at, o.output, o.worst_result, o.worst_exact, o.worst_explained)
            : fmt::format("output '{}' is another: {}", o.output, o.problem);
  }

  EquivalenceOptions options_;
  const std::shared_ptr<Model> original_, changed_;
  bool rounds_ = false;
  std::chrono::steady_clock::duration slowest_{};  // evaluation of the original
  std::optional<int> last_good_;
  struct Element {
    std::string output;
    int64_t at;
    double original, changed;
  };
  std::optional<Element> rounded_otherwise_;  // in this trial, on plain numbers
  int unclear_ = 0;                           // trials
  ArbiterVerdict first_unclear_;
  TensorList unclear_feed_;
  Equivalence result_;
};

}  // namespace

Equivalence compare_models(const std::shared_ptr<Model>& original, const std::shared_ptr<Model>& changed,
                           const EquivalenceOptions& options) {
  return ModelComparison(original, changed, options).run();
}

Error no_trial_error(const Model& original, const Equivalence& comparison) {
  if (comparison.is_unknown)
    return Error(ErrorCode::kUnsupported, "the models could not be compared: " + comparison.refused);
  Error error(ErrorCode::kUnsupported,
              fmt::format("the models could not be compared, because the original refuses all data that were "
                          "tried: {}",
                          comparison.refused));
  std::string shapes, whole;
  for (const Value* v : original.graph->inputs) {
    if (!v->type.is_tensor()) continue;
    std::string dims;
    bool open = !v->type.has_shape();
    if (v->type.has_shape())
      for (const Dim& d : *v->type.dims) {
        open |= !d.is_known();
        dims += fmt::format("{}{}", dims.empty() ? "" : ",", d.is_known() ? d.value() : 2);
      }
    if (open) shapes += fmt::format(" {}:[{}]", v->name(), dims.empty() ? "2,2" : dims);
    if (is_integer(v->type.dtype)) whole += fmt::format(" {}:[0,1]", v->name());
  }
  std::string remedy;
  if (!shapes.empty()) remedy = say(Say::kProveShapes, {shapes});
  if (!whole.empty()) remedy += (remedy.empty() ? "" : " ") + say(Say::kProveIntegers, {whole});
  remedy += (remedy.empty() ? "" : " ") + say(Say::kProveData);
  error.set_remedy(std::move(remedy), std::string(key_of(Say::kProveData)));
  return error;
}

std::string find_difference(const std::shared_ptr<Model>& original, const std::shared_ptr<Model>& changed,
                            const EquivalenceOptions& options) {
  const Equivalence comparison = compare_models(original, changed, options);
  if (!comparison.difference.empty()) return comparison.difference;
  if (comparison.trials == 0) throw no_trial_error(*original, comparison);
  return {};
}

}  // namespace assay
