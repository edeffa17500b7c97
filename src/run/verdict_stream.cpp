#include "run/verdict_stream.h"

#include <algorithm>

#include "backends/backend_list.h"
#include "backends/session_info.h"
#include "base/diagnostics.h"
#include "base/processor.h"
#include "base/wording.h"
#include "run/check_results.h"
#include "run/coerce_inputs.h"

namespace assay {
namespace {

std::vector<std::string> first_names(const RunReport& report, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(report.runners[i].name);
  return names;
}

}  // namespace

VerdictStream::VerdictStream(const RunOptions& options, ModelLoader& loader, RunReport& report, size_t live,
                             TensorStore& store, RunObserver& observer)
    : options_(options),
      report_(report),
      live_(live),
      observer_(observer),
      model_(loader.load_for(backend_reference::def).model),
      own_outputs_(loader.own_outputs()),
      inputs_(tensor_infos(model_->graph->inputs)),
      tracer_(options, first_names(report, live), store) {
  if (!options.save_verdict.empty()) writer_.emplace(options.save_verdict);
}

void VerdictStream::judge(const std::vector<IterationResult>& results, const TensorList& data,
                          int64_t iteration) {
  for (size_t i = live_; i < results.size(); ++i) check(results[i], iteration);
  std::vector<ArbiterCase> cases;
  for (const IterationResult& r : results)
    cases.push_back(
        {r.runner_name, &r.outputs, tracer_.can_mark(r.runner_name), tracer_.asked_of(r.runner_name)});
  const std::vector<Tensor> feed = coerce_inputs(data, inputs_);
  Arbitration judged = arbitrate(model_, feed, cases, options_.arbiter);
  tracer_.trace(judged, data, results);
  if (judged.traced == nullptr && judged.unsteady.empty() &&
      std::any_of(judged.outputs.begin(), judged.outputs.end(),
                  [&](const auto& o) { return is_left_to_a_trace(o, cases); })) {
    for (ArbiterCase& c : cases) c.traceable = false;
    judged = arbitrate(model_, feed, cases, options_.arbiter);
  }
  for (size_t i = live_; i < results.size(); ++i)
    if (results[i].inputs.empty()) doubt_inputs(results[i].runner_name, judged);
  judged.files = files(iteration);
  judged.processor = live_ > 0 ? processor_name() : "";
  judged.threads = options_.session.threads;
  if (judged.traced != nullptr) {
    auto traced = std::make_shared<Arbitration>(*judged.traced);
    traced->files = judged.files;
    traced->processor = judged.processor, traced->threads = judged.threads;
    traced->files.results.clear();  // of the first run, without the marks
    judged.traced = std::move(traced);
  }
  report_.verdicts.add(judged, iteration);
  observer_.on_verdict(judged, options_.arbiter, iteration);
  if (writer_) writer_->add(judged);
}

/// For results without a record of their inputs: nodes with known inputs are judged on those, and then the
/// first node seems wrong.
void VerdictStream::doubt_inputs(const std::string& runner, Arbitration& judged) {
  for (ArbiterVerdict& o : judged.outputs) {
    if (o.runner != runner || o.verdict != Verdict::kWrong || o.beyond * 2 <= o.elements ||
        (o.basis == Basis::kNode && !o.from_feed))
      continue;
    o.note += fmt::format(
        "{}these results do not say which inputs they were made with, and others would explain it",
        o.note.empty() ? "" : "; ");
    return;
  }
}

/// Missing outputs would pass unjudged.
void VerdictStream::check(const IterationResult& result, int64_t iteration) {
  const std::string sentence = misfit(result.runner_name, result, iteration, *model_, own_outputs_);
  if (sentence.empty()) return;
  if (options_.partial) {
    if (told_.insert(result.runner_name).second) diag::warning("Not all is judged: {}", sentence);
    return;
  }
  Error e(ErrorCode::kInvalidArgument, sentence);
  set_remedy(e, Say::kPartial);
  throw e;
}

/// Names files of results that contain one iteration
/// of one runner, so that they match the inputs.
RunFiles VerdictStream::files(int64_t iteration) const {
  const auto only = [](const std::vector<std::string>& list) {
    return list.size() == 1 ? list[0] : std::string();
  };
  RunFiles found{.model = options_.model.path, .inputs = {}, .results = {}};
  if (iteration > 0) return found;
  found.inputs = options_.load_inputs.empty() ? options_.save_inputs : only(options_.load_inputs);
  if (report_.runners.size() != 1) return found;
  found.results = live_ > 0 ? options_.save_outputs : only(options_.load_outputs);
  return found;
}

void VerdictStream::finish() {
  observer_.on_verdicts(report_.verdicts);
  if (writer_) writer_->commit();
}

}  // namespace assay
