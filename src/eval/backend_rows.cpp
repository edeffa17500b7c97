#include "eval/backend_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "assay/error.h"
#include "backends/backend_list.h"
#include "generate/sequence.h"
#include "run/coerce_inputs.h"

namespace assay::eval {
namespace {

std::vector<RunnerChoice> all_runners(const EvalOptions& options) {
  std::vector<RunnerChoice> runners = options.run.runners;
  require(!runners.empty(), ErrorCode::kInvalidArgument, "there is no backend to evaluate");
  if (options.golden_is_exact) {
    const Backend& reference = backend_reference::def;
    runners.push_back({.backend = &reference,
                       .prefix = std::string(reference.runner_prefix),
                       .human_name = std::string(reference.human_name)});
  }
  return runners;
}

bool has_labels(const EvalOptions& options) {
  const Entries data = options.samples->identity();
  return options.labels || !options.label_array.empty() ||
         std::find(data.begin(), data.end(), std::pair<std::string, std::string>("kind", "tokens")) !=
             data.end();
}

bool has_tokens(const EvalOptions& options) { return options.label_array.empty() && !options.labels; }

}  // namespace

std::vector<std::string> backend_names(const std::vector<RunnerChoice>& runners) {
  std::vector<std::string> names;
  for (const RunnerChoice& choice : runners) {
    std::string name = choice.prefix;
    if (name.ends_with("-runner")) name.resize(name.size() - 7);
    const auto others = std::count_if(names.begin(), names.end(), [&](const std::string& other) {
      return other == name || other.starts_with(name + "#");
    });
    names.push_back(others == 0 ? name : fmt::format("{}#{}", name, others + 1));
  }
  return names;
}

BackendRows::BackendRows(const EvalOptions& options)
    : worst_(options.worst),
      loader_(options.run.model),
      runners_(make_runners(all_runners(options), options.run.session)),
      names_(backend_names(options.run.runners)),
      functions_(options.functions) {
  choose_golden(options);
  choose_metrics(options);
  for (Runner& runner : runners_) {
    active_.push_back(std::make_unique<ActiveRunner>(runner, loader_));
    require_tensors(runner.inputs());
    require(runner.outputs().size() == runners_.front().outputs().size(), ErrorCode::kInvalidArgument,
            "{} has {} outputs, and {} {}", runner.name(), runner.outputs().size(), runners_.front().name(),
            runners_.front().outputs().size());
  }
  results_.resize(runners_.size());
  seconds_.resize(runners_.size());
  for (const Metric& metric : metrics_) add_metric_rows(metric);
  for (const auto& function : functions_)
    for (size_t b = 0; b < names_.size(); ++b) sources_.push_back({.function = function.get(), .backend = b});
  observations_.resize(sources_.size());
}

void BackendRows::choose_golden(const EvalOptions& options) {
  if (options.golden_is_exact) {
    golden_ = runners_.size() - 1;
    golden_name_ = "float64";
    return;
  }
  if (!options.golden.empty()) {
    const auto found = std::find(names_.begin(), names_.end(), options.golden);
    require(found != names_.end(), ErrorCode::kInvalidArgument,
            "there is no backend '{}' to compare with; there are {}", options.golden,
            fmt::join(names_, ", "));
    golden_ = static_cast<size_t>(found - names_.begin());
  }
  golden_name_ = names_[golden_];
}

void BackendRows::choose_metrics(const EvalOptions& options) {
  const bool labelled = has_labels(options), compares = runners_.size() > 1;
  metrics_ = options.metrics;
  if (metrics_.empty() && functions_.empty()) {
    std::vector<const char*> names;
    if (labelled) names.push_back(has_tokens(options) ? "perplexity" : "top1");
    if (compares) names.insert(names.end(), {"sqnr", "max-error"});
    if (compares && labelled) names.push_back(has_tokens(options) ? "first-difference" : "agreement");
    for (const char* name : names) metrics_.push_back(Metric::parse(name));
  }
  require(!metrics_.empty() || !functions_.empty(), ErrorCode::kInvalidArgument,
          "there is nothing to compare with: no labels, no second backend and no float64");
  for (const Metric& m : metrics_) {
    metric_texts_.push_back(m.text());
    require(m.def().truth != Truth::kLabels || labelled, ErrorCode::kInvalidArgument, "{} needs labels",
            m.name());
    require(m.def().truth != Truth::kGolden || compares, ErrorCode::kInvalidArgument,
            "{} compares with another backend or with float64, and there is none", m.name());
  }
  for (const auto& function : functions_) metric_texts_.push_back(function->name());
}

std::vector<size_t> BackendRows::outputs_of(const Metric& metric) const {
  std::vector<size_t> chosen;
  std::string names;
  for (size_t i = 0; i < outputs().size(); ++i) {
    names += (names.empty() ? "" : ", ") + outputs()[i].name;
    if (metric.output().empty() ? i == 0 || metric.def().truth == Truth::kGolden
                                : outputs()[i].name == metric.output())
      chosen.push_back(i);
  }
  require(!chosen.empty(), ErrorCode::kInvalidArgument, "{}: there is no output '{}'; there are {}",
          metric.text(), metric.output(), names);
  return chosen;
}

void BackendRows::add_metric_rows(const Metric& metric) {
  const std::vector<size_t> outputs = outputs_of(metric);
  for (size_t b = 0; b < names_.size(); ++b) {
    if (metric.def().truth == Truth::kGolden && b == golden_) continue;
    for (const size_t output : outputs)
      sources_.push_back({.metric = &metric, .backend = b, .output = output});
  }
}

std::vector<Row> BackendRows::rows() const {
  std::vector<Row> rows;
  for (const RowSource& s : sources_) {
    Row row{.backend = names_[s.backend]};
    if (s.metric != nullptr) {
      row.metric = s.metric->name();
      row.output = outputs()[s.output].name;
      row.kind = s.metric->def().kind;
      row.low_is_worse = s.metric->def().low_is_worse;
    } else {
      row.metric = s.function->name();
      row.low_is_worse = s.function->low_is_worse();
      if (s.function->is_over_set()) row.kind = Kind::kSet;
    }
    row.worst = Ranking(worst_, row.low_is_worse);
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

/// Returns the seconds that it took.
double run_once(Runner& runner, const std::vector<Tensor>& feed, std::vector<Tensor>& results) {
  return runner.infer(feed, [&](size_t output, Tensor tensor) { results[output] = std::move(tensor); });
}

/// Rows of steps, one after the other: along the second-last axis, before which every extent is 1.
Tensor stacked(const std::vector<Tensor>& steps) {
  Shape shape = steps.front().shape();
  require(shape.rank() >= 2 && shape[shape.rank() - 1] * shape[shape.rank() - 2] == shape.numel(),
          ErrorCode::kInvalidModel, "the logits of a step have the shape {}, and are those of one sequence",
          shape.str());
  int64_t rows = 0;
  size_t bytes = 0;
  for (const Tensor& t : steps) {
    rows += t.dim(shape.rank() - 2);
    bytes += t.nbytes();
  }
  shape[shape.rank() - 2] = rows;
  Tensor all = Tensor::zeros(steps.front().dtype(), shape);
  require(all.nbytes() == bytes, ErrorCode::kInvalidModel, "the logits of steps have different shapes");
  auto* at = static_cast<char*>(all.mutable_data());
  for (const Tensor& t : steps) {
    std::memcpy(at, t.data(), t.nbytes());
    at += t.nbytes();
  }
  return all;
}

/// The tokens of a sample step by step, each with the cache that those before have left. The logits are those
/// of all steps, other outputs those of the last.
double run_steps(Runner& runner, const Sample& sample, std::vector<Tensor>& results) {
  generate::TokenSequence sequence(sample.steps);
  const std::vector<int64_t> tokens = sample.tensors.front().tensor.to_int64();
  std::vector<Tensor> logits;
  double seconds = 0;
  for (const std::span<const int64_t> part : sequence.parts(tokens)) {
    seconds += run_once(runner, sequence.feed(part), results);
    logits.push_back(results[sample.steps->logits]);
    sequence.take(part, results);
  }
  results[sample.steps->logits] = stacked(logits);
  return seconds;
}

}  // namespace

void BackendRows::measure(const Sample& sample, const std::vector<Tensor>& feed) {
  for (size_t b = 0; b < runners_.size(); ++b) {
    std::vector<Tensor>& results = results_[b];
    results.assign(outputs().size(), {});
    with_context([&] { return "on " + (b < names_.size() ? names_[b] : golden_name_); },
                 [&] {
                   seconds_[b] = sample.steps == nullptr ? run_once(runners_[b], feed, results)
                                                         : run_steps(runners_[b], sample, results);
                 });
  }
  for (size_t i = 0; i < sources_.size(); ++i) measure_row(sources_[i], sample, observations_[i]);
}

namespace {

TensorList named(const std::vector<TensorInfo>& infos, const std::vector<Tensor>& tensors) {
  TensorList list;
  for (size_t i = 0; i < infos.size(); ++i) list.push_back({infos[i].name, tensors[i]});
  return list;
}

}  // namespace

void BackendRows::measure_row(const RowSource& row, const Sample& sample, Observations& observations) {
  observations.values.clear();
  if (row.metric != nullptr) {
    with_context(
        [&] {
          return fmt::format("in {} of output '{}' of {}", row.metric->name(), outputs()[row.output].name,
                             names_[row.backend]);
        },
        [&] {
          row.metric->measure({.output = results_[row.backend][row.output],
                               .golden = &results_[golden_][row.output],
                               .labels = sample.labels},
                              observations.values);
        });
  } else {
    const TensorList golden = named(outputs(), results_[golden_]),
                     own = named(outputs(), results_[row.backend]);
    const TensorList* const compared = golden_ == row.backend ? nullptr : &golden;
    if (row.function->is_over_set())
      observations.record = row.function->record(own, compared, sample.labels);
    else
      observations.values.push_back(row.function->measure(own, compared, sample.labels));
  }
  double sum = 0;
  for (const double v : observations.values) sum += v;
  observations.rank = observations.values.empty() ? 0 : sum / static_cast<double>(observations.values.size());
}

}  // namespace assay::eval
