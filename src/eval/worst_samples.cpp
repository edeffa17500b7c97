#include "eval/worst_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "assay/arbiter.h"
#include "assay/error.h"
#include "run/comparator.h"
#include "run/results.h"

namespace assay::eval {
namespace {

/// Sets of inputs, one after the other.
class InputList final : public DataSource {
 public:
  explicit InputList(const std::map<int64_t, TensorList>& inputs) : inputs_(inputs), next_(inputs.begin()) {}
  void begin(const std::vector<TensorInfo>& /*inputs*/) override {}
  std::optional<TensorList> next() override {
    if (next_ == inputs_.end()) return std::nullopt;
    return (next_++)->second;
  }

 private:
  const std::map<int64_t, TensorList>& inputs_;
  std::map<int64_t, TensorList>::const_iterator next_;
};

/// The order in which verdicts of outputs stand for a sample.
int weight(Verdict v) {
  constexpr Verdict kOrder[] = {Verdict::kAgrees,    Verdict::kRounding,  Verdict::kOpen,
                                Verdict::kInherited, Verdict::kNotJudged, Verdict::kCannotTell,
                                Verdict::kUnclear,   Verdict::kWrong};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), v) - std::begin(kOrder));
}

/// Takes down the verdict on each backend.
class VerdictNotes final : public RunObserver {
 public:
  VerdictNotes(const RunOptions& run, const std::map<int64_t, TensorList>& inputs)
      : names_(backend_names(run.runners)), next_(inputs.begin()) {}

  void on_runner_begin(const std::string& runner) override {
    if (runners_.size() < names_.size()) runners_.push_back(runner);
  }
  void on_verdict(const Arbitration& judged, const ArbiterOptions& /*options*/,
                  int64_t /*iteration*/) override {
    const int64_t sample = (next_++)->first;
    const bool is_traced = judged.traced != nullptr && judged.traced->any(Verdict::kWrong);
    for (size_t r = 0; r < runners_.size(); ++r) {
      const ArbiterVerdict* worst = worst_of(judged, runners_[r]);
      if (worst == nullptr) continue;
      // A second run with every layer as an output says where the error begins.
      const ArbiterVerdict* origin = is_traced ? worst_of(*judged.traced, runners_[r]) : nullptr;
      const ArbiterVerdict& told =
          origin != nullptr && origin->verdict == Verdict::kWrong && worst->verdict == Verdict::kWrong
              ? *origin
              : *worst;
      const bool is_at_node = told.verdict == Verdict::kWrong;
      notes.push_back({.sample = sample,
                       .backend = names_[r],
                       .verdict = std::string(verdict_name(worst->verdict)),
                       .node = is_at_node ? told.node : "",
                       .op_type = is_at_node ? told.op_type : "",
                       .output = told.output});
    }
  }

  std::vector<JudgedSample> notes;

 private:
  /// Of equal ones the first in topological order.
  static const ArbiterVerdict* worst_of(const Arbitration& judged, const std::string& runner) {
    const ArbiterVerdict* worst = nullptr;
    for (const ArbiterVerdict& v : judged.outputs)
      if (v.runner == runner && (worst == nullptr || weight(v.verdict) > weight(worst->verdict))) worst = &v;
    return worst;
  }

  std::vector<std::string> names_, runners_;
  std::map<int64_t, TensorList>::const_iterator next_;
};

TensorList with_names(const std::vector<Tensor>& feed, const std::vector<TensorInfo>& infos) {
  TensorList list;
  for (size_t i = 0; i < infos.size(); ++i) list.push_back({infos[i].name, feed[i]});
  return list;
}

}  // namespace

void WorstSamples::offer(const Evaluation& evaluation, const Sample& sample,
                         const std::vector<Tensor>& feed) {
  if (places_ == 0 || samples_.size()) return;
  const auto is_ranked = [&](int64_t index) {
    return std::any_of(evaluation.rows.begin(), evaluation.rows.end(), [&](const Row& row) {
      const auto& list = row.worst.list();
      const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(places_, list.size()));
      return std::any_of(list.begin(), end, [&](const Ranked& r) { return r.sample == index; });
    });
  };
  if (!is_ranked(sample.index)) return;
  kept_[sample.index] = feed;
  if (kept_.size() > 2 * places_ * std::max<size_t>(1, evaluation.rows.size()))
    std::erase_if(kept_, [&](const auto& entry) { return !is_ranked(entry.first); });
}

std::map<int64_t, TensorList> WorstSamples::inputs(const Evaluation& evaluation, size_t places,
                                                   const std::vector<TensorInfo>& infos) const {
  std::map<int64_t, TensorList> inputs;
  const Ranges ranked = evaluation.ranked(places);
  for (const Range& r : ranked.list())
    for (int64_t i = r.first; i < r.end; ++i) {
      const auto kept = kept_.find(i);
      if (kept != kept_.end())
        inputs[i] = with_names(kept->second, infos);
      else if (samples_.size())
        inputs[i] = with_names(feed_of(samples_.load(i), infos), infos);
    }
  return inputs;
}

void save_worst(const std::map<int64_t, TensorList>& inputs, const std::string& folder) {
  for (const auto& [sample, tensors] : inputs)
    save_input_iteration(tensors,
                         (std::filesystem::path(folder) / fmt::format("sample-{:09}.json", sample)).string());
}

std::vector<JudgedSample> judge_samples(const RunOptions& run, const std::map<int64_t, TensorList>& inputs) {
  RunOptions options = run;
  options.source = std::make_shared<InputList>(inputs);
  options.load_inputs.clear();
  options.arbitrate = true;
  options.session.judged = true;
  options.functions.clear();
  VerdictNotes notes(options, inputs);
  assay::run(options, notes);
  return std::move(notes.notes);
}

}  // namespace assay::eval
