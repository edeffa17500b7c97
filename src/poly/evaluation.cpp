#include "poly/evaluation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "assay/error.h"
#include "generate/interface.h"
#include "poly/run_extensions.h"
#include "poly/run_json.h"
#include "poly/run_table.h"
#include "script/data_script.h"

namespace assay::poly {
namespace {

namespace fs = std::filesystem;

bool is_script(const std::string& path) {
  const std::string file = path.substr(0, path.rfind(':'));
  for (const std::string& name : {path, file})
    for (const char* ending : {".py", ".cpp", ".cc", ".cxx", ".so"})
      if (name.ends_with(ending)) return true;
  return false;
}

std::shared_ptr<eval::SampleSet> script_set(const std::string& text, const std::string& labels,
                                            double timeout) {
  return eval::script_samples(script::parse_reference(text, script::DataScript::kDefaultFunction), labels,
                              timeout);
}

std::shared_ptr<eval::SampleSet> data_at(const std::string& path, const std::string& labels, double timeout) {
  std::error_code ec;
  if (fs::is_directory(path, ec)) return eval::folder_samples(path, labels);
  if (path.ends_with(".npy") || path.ends_with(".npz")) return eval::array_samples(path, labels);
  if (path.ends_with(".json")) return eval::saved_samples({path}, labels);
  if (is_script(path)) return script_set(path, labels, timeout);
  if (!fs::exists(path, ec)) fail(ErrorCode::kNotFound, "{} does not exist", path);
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is no data set that can be read", path))
      .set_remedy("Data are a folder, .npz, .npy, .json of saved inputs, or a script that yields samples.");
}

std::shared_ptr<eval::SampleSet> samples_of(const EvaluationSettings& s, const std::string& label_array) {
  const RunData& data = s.run.data;
  if (!s.tokens.empty()) return eval::token_samples(s.tokens, generate::parse_interface_names(s.interface));
  if (!s.data.empty()) return data_at(s.data, label_array, s.loader_timeout);
  if (data.source) {
    RunData own = data;
    own.script.clear();
    return eval::source_samples(own_data(own), s.data_identity, label_array);
  }
  if (!data.script.empty()) return script_set(data.script, label_array, s.loader_timeout);
  if (!data.load_inputs.empty()) return eval::saved_samples(data.load_inputs, label_array);
  return eval::random_samples(random_data_options(data));
}

void read_labels(const EvaluationSettings& s, eval::EvalOptions& options) {
  std::error_code ec;
  if (s.labels.empty()) return;
  const bool is_file = fs::exists(s.labels, ec);
  if (!is_file &&
      (s.labels.find('/') != std::string::npos || s.labels.ends_with(".npy") || s.labels.ends_with(".txt")))
    fail(ErrorCode::kNotFound, "the file of labels {} does not exist", s.labels);
  if (is_file)
    options.labels = eval::Labels::load(s.labels);
  else
    options.label_array = s.labels;
}

size_t count_of(int64_t number, const char* what) {
  require(number >= 0, ErrorCode::kInvalidArgument, "{}: {} is negative", what, number);
  return static_cast<size_t>(number);
}

}  // namespace

std::vector<std::shared_ptr<script::MetricScript>> metric_functions(const std::vector<std::string>& scripts) {
  std::vector<std::shared_ptr<script::MetricScript>> functions;
  for (const std::string& word : scripts) {
    functions.push_back(std::make_shared<script::MetricScript>(
        script::parse_reference(word, script::MetricScript::kDefaultFunction)));
    functions.back()->prepare();
  }
  return functions;
}

namespace {

/// Members of a run's parts that decide nothing here: files by their places, whose content is in the identity
/// otherwise, what is saved, and the data, which identify themselves.
constexpr std::string_view kUndeciding[] = {
    "extensions.modules",
    "model.path",
    "model.import.external_data_dir",
    "model.save_path",
    "model.save_external_data",
    "model.external_data_threshold",
    "model.one_file_per_tensor",
    "data.load_inputs",
    "data.script",
    "data.seed",
    "data.iterations",
    "session.library",
    "engine.save_engine",
    "engine.save_tactics",
    "engine.save_timing_cache",
    "engine.profile",
};

bool decides(const RunRow& row) {
  const bool has_part = row.part == RunPart::kExtensions || row.part == RunPart::kModel ||
                        row.part == RunPart::kData || row.part == RunPart::kSession ||
                        row.part == RunPart::kEngine;
  return has_part &&
         std::find(std::begin(kUndeciding), std::end(kUndeciding), row.member) == std::end(kUndeciding);
}

/// The settings that decide the results besides model, data, backends and metrics, as options say them.
eval::Entries deciding_settings(const EvaluationSettings& s) {
  eval::Entries entries;
  for (const RunRow* row : run_members()) {
    if (!decides(*row) || !differs_from_default(*row, s.run)) continue;
    RunSettings run = s.run;
    entries.emplace_back(row->has_option() ? row->option.names.front() : std::string(row->member),
                         member_json(row->at(run)));
  }
  if (!s.interface.empty()) entries.emplace_back("interface", fmt::format("{}", fmt::join(s.interface, " ")));
  entries.insert(entries.end(), s.identity.begin(), s.identity.end());
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return entries;
}

/// The settings that differ from part to part.
void choose_samples(const EvaluationSettings& s, eval::EvalOptions& options) {
  options.samples = samples_of(s, options.label_array);
  require(s.shard.empty() || s.only.empty(), ErrorCode::kInvalidArgument,
          "a part is a shard or named samples, not both");
  if (!s.shard.empty()) options.shard = eval::parse_shard(s.shard);
  if (!s.only.empty()) options.only = eval::Ranges::parse(s.only);
  if (!s.first_sample) return;
  count_of(*s.first_sample, "the number of the first sample");
  require(s.shard.empty() && s.only.empty() && !options.samples->size(), ErrorCode::kInvalidArgument,
          "only a stream has pieces, and a piece has no shards");
  options.first_sample = *s.first_sample;
  options.is_piece = true;
}

}  // namespace

eval::EvalOptions evaluation_options(const EvaluationSettings& s, const extension::Registries& registries,
                                     const ModelEdits& edits) {
  eval::EvalOptions options;
  options.run = run_options(s.run, registries, edits);
  read_labels(s, options);
  choose_samples(s, options);
  for (const std::string& word : s.metrics) options.metrics.push_back(eval::Metric::parse(word));
  options.functions = metric_functions(s.metric_scripts);
  options.golden = s.golden;
  options.golden_is_exact = s.exact;
  require(s.golden.empty() || !s.exact, ErrorCode::kInvalidArgument,
          "backends are compared with float64 or with a golden backend, not with both");
  options.worst = count_of(s.worst, "the number of ranked samples");
  options.judged_worst = count_of(s.judge, "the number of judged samples");
  require(options.judged_worst <= options.worst, ErrorCode::kInvalidArgument,
          "{} samples of each ranking cannot be judged: it holds {}", s.judge, s.worst);
  options.save_worst = s.save_worst;
  options.most_samples = s.most_samples;
  if (s.most_samples) count_of(*s.most_samples, "the number of samples");
  options.skips_bad_samples = s.skip_bad_samples;
  options.measures_times = s.timing;
  options.saving = {.path = s.output, .resume = s.resume, .seconds = s.checkpoint_seconds};
  options.identity = deciding_settings(s);
  return options;
}

void require_complete(const eval::Evaluation& e) {
  require(e.samples.has_value(), ErrorCode::kInvalidArgument,
          "it is not known how many samples there are: none of the files reached the end of the data");
  if (const eval::Ranges missing = e.missing(); !missing.empty())
    fail(ErrorCode::kInvalidArgument, "{} of {} samples are missing: {}", missing.count(), *e.samples,
         missing.text());
}

namespace {

class StepObserver final : public eval::EvalObserver {
 public:
  explicit StepObserver(const std::function<void()>& on_step) : on_step_(on_step) {}
  void on_step() override {
    if (on_step_) on_step_();
  }

 private:
  const std::function<void()>& on_step_;
};

}  // namespace

std::string evaluate(const EvaluationSettings& settings) {
  const RunModules modules(settings.run);
  StepObserver observer(settings.on_step);
  return to_json(
      eval::evaluate(evaluation_options(settings, modules.registries(), modules.model_edits()), observer));
}

struct EvaluationParts::Open {
  explicit Open(const EvaluationSettings& settings)
      : modules(settings.run),
        options(evaluation_options(settings, modules.registries(), modules.model_edits())) {
    options.run.source = nullptr;
  }

  RunModules modules;
  eval::EvalOptions options;
  eval::OpenBackends backends;
};

EvaluationParts::EvaluationParts(EvaluationSettings settings) : settings_(std::move(settings)) {
  settings_.shard.clear();
  settings_.output.clear();
  settings_.resume = false;
}

EvaluationParts::~EvaluationParts() = default;

std::string EvaluationParts::evaluate(const std::string& samples) {
  settings_.only = samples;
  settings_.first_sample = std::nullopt;
  return evaluate();
}

std::string EvaluationParts::evaluate(const DataSource& source, int64_t first_sample) {
  settings_.only.clear();
  settings_.run.data.source = source;
  settings_.first_sample = first_sample;
  std::string result = evaluate();
  settings_.run.data.source = nullptr;
  return result;
}

std::string EvaluationParts::evaluate() {
  try {
    if (open_ == nullptr)
      open_ = std::make_unique<Open>(settings_);
    else
      choose_samples(settings_, open_->options);
    StepObserver observer(settings_.on_step);
    std::string result = to_json(eval::evaluate(open_->options, observer, open_->backends));
    open_->options.samples = nullptr;
    return result;
  } catch (...) {
    open_ = nullptr;
    throw;
  }
}

std::string merge_evaluations(const std::vector<std::string>& paths, const std::string& output,
                              bool incomplete) {
  eval::Evaluation all = eval::merge_files(paths);
  if (!incomplete) require_complete(all);
  if (!output.empty()) save_evaluation(all, output);
  return to_json(all);
}

std::string merge_evaluation_texts(const std::vector<std::string>& results, bool incomplete,
                                   std::optional<int64_t> samples,
                                   const std::vector<std::string>& metric_scripts) {
  require(!results.empty(), ErrorCode::kInvalidArgument, "there are no results to merge");
  const auto name = [](size_t i) { return fmt::format("result {}", i); };
  eval::Evaluation all = eval::from_json(results.front(), name(0));
  for (size_t i = 1; i < results.size(); ++i)
    with_context([&] { return "in " + name(i); }, [&] { all.add(eval::from_json(results[i], name(i))); });
  if (samples) {
    const eval::Ranges beyond = all.covered.without(eval::Ranges(0, *samples));
    require(beyond.empty() && all.samples.value_or(*samples) == *samples, ErrorCode::kInvalidArgument,
            "there are not {} samples: the results cover {}", *samples, all.covered.text());
    all.samples = *samples;
  }
  if (!incomplete) require_complete(all);
  if (!incomplete) all.measure_sets(metric_functions(metric_scripts));
  return to_json(all);
}

std::optional<int64_t> count_samples(const EvaluationSettings& settings) {
  const std::optional<int64_t> size = samples_of(settings, /*label_array=*/"")->size();
  if (!size || !settings.most_samples) return size;
  return std::min(*size, *settings.most_samples);
}

std::string leave_out_sample(const std::string& result, int64_t sample, const std::string& reason) {
  eval::Evaluation e = eval::from_json(result, "the result");
  require(sample >= 0 && !e.covered.contains(sample), ErrorCode::kInvalidArgument,
          "the sample {} is covered already", sample);
  e.covered.add(sample, sample + 1);
  e.add_bad({sample, reason});
  return to_json(e);
}

}  // namespace assay::poly
