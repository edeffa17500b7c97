// Evaluations over data sets: what `assay eval` and `assay merge` do, as JSON.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "assay/evaluation.h"
#include "calls.h"
#include "convert.h"
#include "parts.h"

namespace assay::python {
namespace {

using poly::EvaluationSettings;

using EvaluationReader = void (*)(EvaluationSettings&, nb::handle);

const std::pair<const char*, EvaluationReader> kEvaluationReaders[] = {
    {"data", [](EvaluationSettings& s, nb::handle v) { s.data = to_path(v); }},
    {"tokens", [](EvaluationSettings& s, nb::handle v) { s.tokens = to_path(v); }},
    {"interface", [](EvaluationSettings& s, nb::handle v) { s.interface = to_names(v, "interface"); }},
    {"labels", [](EvaluationSettings& s, nb::handle v) { s.labels = to_path(v); }},
    {"metrics", [](EvaluationSettings& s, nb::handle v) { s.metrics = to_names(v, "metrics"); }},
    {"metric_scripts",
     [](EvaluationSettings& s, nb::handle v) { s.metric_scripts = to_names(v, "metric_scripts"); }},
    {"golden", [](EvaluationSettings& s, nb::handle v) { s.golden = nb::cast<std::string>(v); }},
    {"exact", [](EvaluationSettings& s, nb::handle v) { s.exact = nb::cast<bool>(v); }},
    {"worst", [](EvaluationSettings& s, nb::handle v) { s.worst = nb::cast<int64_t>(v); }},
    {"judge", [](EvaluationSettings& s, nb::handle v) { s.judge = nb::cast<int64_t>(v); }},
    {"save_worst", [](EvaluationSettings& s, nb::handle v) { s.save_worst = to_path(v); }},
    {"samples", [](EvaluationSettings& s, nb::handle v) { s.most_samples = nb::cast<int64_t>(v); }},
    {"shard", [](EvaluationSettings& s, nb::handle v) { s.shard = nb::cast<std::string>(v); }},
    {"only", [](EvaluationSettings& s, nb::handle v) { s.only = nb::cast<std::string>(v); }},
    {"first_sample", [](EvaluationSettings& s, nb::handle v) { s.first_sample = nb::cast<int64_t>(v); }},
    {"skip_bad_samples", [](EvaluationSettings& s, nb::handle v) { s.skip_bad_samples = nb::cast<bool>(v); }},
    {"timing", [](EvaluationSettings& s, nb::handle v) { s.timing = nb::cast<bool>(v); }},
    {"loader_timeout", [](EvaluationSettings& s, nb::handle v) { s.loader_timeout = nb::cast<double>(v); }},
    {"output", [](EvaluationSettings& s, nb::handle v) { s.output = to_path(v); }},
    {"resume", [](EvaluationSettings& s, nb::handle v) { s.resume = nb::cast<bool>(v); }},
    {"checkpoint_seconds",
     [](EvaluationSettings& s, nb::handle v) { s.checkpoint_seconds = nb::cast<double>(v); }},
    {"data_identity",
     [](EvaluationSettings& s, nb::handle v) {
       s.data_identity = nb::cast<std::vector<std::pair<std::string, std::string>>>(v);
     }},
    {"identity",
     [](EvaluationSettings& s, nb::handle v) {
       s.identity = nb::cast<std::vector<std::pair<std::string, std::string>>>(v);
     }},
};

/// `settings`: of the evaluation; its entry `run` is a dict as for a run.
EvaluationSettings read_evaluation(nb::handle settings, RunReading& run) {
  EvaluationSettings s;
  const nb::dict given = nb::cast<nb::dict>(settings);
  run = read_run(given["run"]);
  s.run = run.settings;
  for (auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "run" || value.is_none()) continue;
    const auto* reader = std::find_if(std::begin(kEvaluationReaders), std::end(kEvaluationReaders),
                                      [&](const auto& r) { return name == r.first; });
    if (reader == std::end(kEvaluationReaders))
      throw Error(ErrorCode::kInvalidArgument, "an evaluation has no setting '" + name + "'");
    try {
      reader->second(s, value);
    } catch (const nb::cast_error&) {
      fail(ErrorCode::kInvalidArgument, "the evaluation's setting '{}' cannot be a {}", name,
           nb::cast<std::string>(nb::str(nb::handle(value).type().attr("__name__"))));
    }
  }
  return s;
}

/// Between samples: raises what an interrupt raises.
void check_step() {
  if (!InterruptScope::interrupted()) return;
  const Locked lock;
  InterruptScope::check();
}

template <typename Body>
nb::str measured(Body&& body) {
  const InterruptScope interrupts;
  const std::string text = without_lock(std::forward<Body>(body));
  InterruptScope::check();
  return to_text(text);
}

nb::str evaluate(nb::handle settings) {
  RunReading run;
  EvaluationSettings s = read_evaluation(settings, run);
  s.on_step = check_step;
  return measured([&] { return poly::evaluate(s); });
}

/// Parts of an evaluation, with what its settings refer to.
struct OpenEvaluation {
  explicit OpenEvaluation(nb::handle settings) : parts(settings_of(settings, run)) {}

  nb::str of_range(const std::string& samples) {
    return measured([&] { return parts.evaluate(samples); });
  }
  nb::str of_items(nb::handle items, int64_t first_sample) {
    nb::dict words;
    words["data"] = items;
    const RunReading reading = read_run(words);
    return measured([&] { return parts.evaluate(reading.settings.data.source, first_sample); });
  }

  RunReading run;
  poly::EvaluationParts parts;

 private:
  static EvaluationSettings settings_of(nb::handle settings, RunReading& run) {
    EvaluationSettings s = read_evaluation(settings, run);
    s.on_step = check_step;
    return s;
  }
};

nb::str merge(const std::vector<std::string>& results, bool incomplete, std::optional<int64_t> samples,
              const std::vector<std::string>& metric_scripts) {
  return to_text(without_lock(
      [&] { return poly::merge_evaluation_texts(results, incomplete, samples, metric_scripts); }));
}

nb::str merge_files(const std::vector<std::string>& paths, const std::string& output, bool incomplete) {
  return to_text(without_lock([&] { return poly::merge_evaluations(paths, output, incomplete); }));
}

std::optional<int64_t> count_samples(nb::handle settings) {
  RunReading run;
  const EvaluationSettings s = read_evaluation(settings, run);
  return without_lock([&] { return poly::count_samples(s); });
}

nb::str leave_out(const std::string& result, int64_t sample, const std::string& reason) {
  return to_text(poly::leave_out_sample(result, sample, reason));
}

}  // namespace

void bind_evaluations(nb::module_& m) {
  m.def("run_evaluation", &evaluate, nb::arg("settings"));
  nb::class_<OpenEvaluation>(m, "OpenEvaluation")
      .def(nb::init<nb::handle>(), nb::arg("settings"))
      .def("of_range", &OpenEvaluation::of_range, nb::arg("samples"))
      .def("of_items", &OpenEvaluation::of_items, nb::arg("items"), nb::arg("first_sample"));
  m.def("merge_evaluations", &merge, nb::arg("results"), nb::arg("incomplete"),
        nb::arg("samples") = nb::none(), nb::arg("metric_scripts") = std::vector<std::string>());
  m.def("merge_evaluation_files", &merge_files, nb::arg("paths"), nb::arg("output"), nb::arg("incomplete"));
  m.def("count_samples", &count_samples, nb::arg("settings"));
  m.def("leave_out_sample", &leave_out, nb::arg("result"), nb::arg("sample"), nb::arg("reason"));
}

}  // namespace assay::python
