// assay eval: backends over a data set.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/log.h"
#include "base/progress_line.h"
#include "cli/command.h"
#include "cli/eval_text.h"
#include "cli/options/data_loader.h"
#include "cli/options/engine_building.h"
#include "cli/options/engine_search.h"
#include "cli/options/logging.h"
#include "cli/options/model.h"
#include "cli/options/onnx_model.h"
#include "cli/options/report.h"
#include "cli/options/runners.h"
#include "cli/registries.h"
#include "cli/run_settings.h"
#include "cli/shards.h"
#include "cli/values.h"
#include "poly/evaluation.h"
#include "poly/run_table.h"

namespace assay::cli::command_eval {
namespace {

std::string metric_help() {
  std::string text = "What to measure, as NAME or NAME:OUTPUT, separated by blanks or commas:";
  for (const eval::MetricDef& def : eval::metric_defs())
    text += fmt::format("{} {} ({})", &def == eval::metric_defs().data() ? "" : ",",
                        def.name == "top" ? "top1" : def.name, def.summary);
  return text + ". Default: by what there is to compare with.";
}

OptionGroup data_options() {
  return {
      .title = "Data Set",
      .description = "Without --data and --tokens the options of the data loader say what the samples are.",
      .options = {
          {.names = {"--data"},
           .help = "A folder of .npy, .npz and .json files, a sample each; an .npz or .npy file, a sample a "
                   "row; saved "
                   "inputs (.json); or a data loader script, FILE[:FUNCTION].",
           .metavar = "PATH"},
          {.names = {"--tokens"},
           .help = "Sequences of tokens for a language model: of text, one a line, or of NumPy (.npy), one a "
                   "row.",
           .metavar = "FILE"},
          {.names = {"--interface"},
           .help = "With --tokens: inputs and outputs whose names do not tell what they are, as for `assay "
                   "generate`.",
           .arity = Arity::kAtLeastOne,
           .metavar = "ROLE=NAME"},
          {.names = {"--labels"},
           .help = "The classes: a file of integers (.npy, or text with a sample a line), or the name of an "
                   "array that "
                   "each sample has.",
           .metavar = "FILE|NAME"},
          {.names = {"--samples"},
           .help = "Evaluate the first samples only.",
           .metavar = "NUMBER",
           .kind = ValueKind::kInteger},
          {.names = {"--skip-bad-samples"},
           .help = "Count and leave out samples that cannot be read, fed or measured. Without it the first "
                   "one ends "
                   "the evaluation.",
           .arity = Arity::kNone},
          {.names = {"--loader-timeout"},
           .help = "Seconds that a script may take for one sample. Default: any.",
           .metavar = "SECONDS",
           .kind = ValueKind::kNumber},
      }};
}

OptionGroup metric_options() {
  return {
      .title = "Metrics",
      .description = "",
      .options = {
          {.names = {"--metric"}, .help = metric_help(), .arity = Arity::kAtLeastOne, .metavar = "NAME"},
          {.names = {"--metric-script"},
           .help = "A function of this script in Python (metric, unless it is named) measures each sample: "
                   "docs/guide/evaluating.md. May be repeated.",
           .metavar = "FILE.py[:FUNCTION]"},
          {.names = {"--golden"},
           .help = "The backend that the others are compared with. Default: the first.",
           .metavar = "BACKEND"},
          {.names = {"--truth"},
           .help = "exact: all backends are compared with float64.",
           .choices = {"exact"}},
          {.names = {"--worst"},
           .help = "Rank this many of the worst samples of each metric. Default: 10.",
           .metavar = "NUMBER",
           .kind = ValueKind::kInteger},
          {.names = {"--save-worst"},
           .help = "Save the inputs of ranked samples to this folder, for --load-inputs.",
           .metavar = "FOLDER"},
          {.names = {"--judge"},
           .help = "Judge the worst samples of each metric, this many, against the float64 reference: which "
                   "backend is "
                   "wrong, and where. Default: 0.",
           .metavar = "NUMBER",
           .kind = ValueKind::kInteger},
          {.names = {"--timing"},
           .help = "Measure how long each backend takes. The result then has a part that differs from run to "
                   "run.",
           .arity = Arity::kNone},
      }};
}

OptionGroup part_options() {
  return {
      .title = "Shards and Results",
      .description = "",
      .options = {
          {.names = {"-o", "--output"}, .help = "Save the result to this file (JSON).", .metavar = "FILE"},
          shard_option("Evaluate a part of the samples. Under mpirun auto is the default."),
          {.names = {"--only"},
           .help =
               "Evaluate only these samples: FIRST:END, without END; several ranges are separated by commas.",
           .metavar = "RANGES"},
          {.names = {"--resume"},
           .help = "Go on with what an interrupted evaluation has finished (FILE.unfinished).",
           .arity = Arity::kNone},
          {.names = {"--checkpoint"},
           .help = "Save what is finished every so many seconds. Default: 10.",
           .metavar = "SECONDS",
           .kind = ValueKind::kNumber},
      }};
}

/// The names that --fail-if accepts.
constexpr std::string_view kMeasured[] = {"top1",       "top5",   "agreement",   "sqnr",
                                          "psnr",       "cosine", "mean-error",  "max-error",
                                          "perplexity", "nan",    "bad-samples", "wrong"};

void add_options(ArgParser& parser, const Registries& registries) {
  add_logging_options(parser);
  add_runner_options(parser, registries.backends);
  add_model_options(parser, /*is_required=*/true);
  add_onnx_load_options(parser);
  for (const OptionGroup& group : {data_options(), metric_options(), part_options()})
    parser.add_group(group.title, group.description).options = group.options;
  add_data_loader_options(parser);
  add_engine_building_options(parser, /*runs=*/true);
  parser.add_group("Report").options = report_options(kMeasured);
}

/// Options that the identity of an evaluation has in another form, or that only say what is reported.
constexpr std::string_view kEvalNeutral[] = {
    "--data",           "--tokens", "--interface",     "--labels", "--samples", "--skip-bad-samples",
    "--loader-timeout", "--metric", "--metric-script", "--golden", "--truth",   "--worst",
    "--save-worst",     "--judge",  "--timing",        "--only",   "--resume",  "--checkpoint"};

/// Of the options that no setting of the run has, such as those of modules.
eval::Entries identity_of(const CommandContext& context) {
  std::vector<std::string> flags;
  for (const Backend* b : context.registries().backends.all()) flags.push_back(flag_of(*b));
  for (const poly::RunGroup& group : poly::run_groups())
    for (const poly::RunRow& row : group.rows)
      if (row.has_member() && row.has_option()) flags.push_back(row.option.names.front());
  std::vector<std::string_view> neutral(flags.begin(), flags.end());
  neutral.insert(neutral.end(), std::begin(kEvalNeutral), std::end(kEvalNeutral));
  return deciding_options(context, neutral);
}

std::vector<std::string> metric_words(const ParsedArgs& args) {
  std::vector<std::string> metrics;
  const auto given = args.all("--metric");
  for (const std::vector<std::string>& words : given)
    for (const std::string& word : words)
      for (size_t at = 0; at < word.size();) {
        const size_t end = std::min(word.find(',', at), word.size());
        if (end > at) metrics.push_back(word.substr(at, end - at));
        at = end + 1;
      }
  return metrics;
}

poly::EvaluationSettings read_settings(const CommandContext& context) {
  const ParsedArgs& args = context.args();
  const Registries& registries = context.registries();
  poly::EvaluationSettings s;
  read_log_settings(args, s.run);
  read_session_settings(args, s.run);
  const ModelOptions model = read_model_options(args, Plans::kAndForeign);
  read_engine_settings(args, /*as_upstream=*/false, *registries.tactics, s.run);
  read_data_settings(args, s.run);
  s.run.runners = read_runners(args, registries.backends, registries.plugins);
  read_model_settings(args, model, s.run);
  for (const InputShape& shape : model.input_shapes) s.run.data.shapes.emplace_back(shape.name, shape.dims);
  s.data = args.text("--data").value_or("");
  s.tokens = args.text("--tokens").value_or("");
  s.interface = args.list("--interface").value_or(std::vector<std::string>{});
  s.labels = args.text("--labels").value_or("");
  s.metrics = metric_words(args);
  const auto scripts = args.all("--metric-script");
  for (const auto& words : scripts) s.metric_scripts.push_back(words.front());
  s.golden = args.text("--golden").value_or("");
  s.exact = args.has("--truth");
  s.worst = require_at_least("--worst", args.integer("--worst").value_or(10), 0);
  s.judge = require_at_least("--judge", args.integer("--judge").value_or(0), 0);
  s.save_worst = args.text("--save-worst").value_or("");
  if (const auto samples = args.integer("--samples"))
    s.most_samples = require_at_least("--samples", *samples, 1);
  s.only = args.text("--only").value_or("");
  s.skip_bad_samples = args.has("--skip-bad-samples");
  s.timing = args.has("--timing");
  s.loader_timeout = args.number("--loader-timeout").value_or(0);
  s.resume = args.has("--resume");
  s.checkpoint_seconds = args.number("--checkpoint").value_or(10);
  s.identity = identity_of(context);
  return s;
}

void check(const ParsedArgs& args, const poly::EvaluationSettings& s) {
  const auto refuse = [](bool is_so, const char* sentence) {
    if (is_so) log::critical(ErrorCode::kInvalidArgument, "{}", sentence);
  };
  refuse(s.run.runners.empty(),
         "There is nothing to evaluate: name backends, such as --onnxrt and --engine.");
  refuse(!s.data.empty() && !s.tokens.empty(),
         "--data and --tokens both say what the samples are: give one.");
  refuse((!s.data.empty() || !s.tokens.empty()) &&
             (args.has("--load-inputs") || args.has("--data-loader-script")),
         "--data and --tokens replace the data loader: leave --load-inputs and --data-loader-script out.");
  refuse(!s.tokens.empty() && !s.labels.empty(),
         "The labels of --tokens are the next tokens: leave --labels out.");
  refuse(args.has("--shard") && args.has("--only"), "--shard and --only both name a part: give one.");
  refuse(s.resume && !args.has("-o"), "--resume goes on with the file of -o: name it.");
  refuse(s.tokens.empty() && !s.interface.empty(), "--interface is for --tokens.");
  refuse(s.loader_timeout < 0 || s.checkpoint_seconds < 0, "A number of seconds is negative.");
}

class Renderer final : public eval::EvalObserver {
 public:
  void on_begin(const eval::Evaluation& begun, int64_t resumed) override {
    if (resumed > 0) log::info("Going on: {} samples are finished", resumed);
    if (begun.samples) log::verbose("The data set has {} samples", *begun.samples);
  }
  void on_progress(int64_t done, std::optional<int64_t> total) override {
    line_.show(total ? fmt::format("{} of {} samples", done, *total) : fmt::format("{} samples", done));
  }
  void on_bad_sample(const eval::BadSample& bad) override {
    if (++bad_ <= kNamed) log::warning("Sample {} is left out: {}", bad.sample, bad.reason);
    if (bad_ == kNamed) log::warning("Further bad samples are only counted.");
  }
  void on_unsaved(const std::string& reason) override {
    log::warning("What is finished could not be saved: {}", reason);
  }
  void on_judge(int64_t samples) override {
    line_.clear();
    log::info("Judging {} of the worst samples against the float64 reference", samples);
  }

 private:
  static constexpr int kNamed = 10;
  ProgressLine line_;
  int bad_ = 0;
};

int64_t wrong_samples(const eval::Evaluation& e) {
  return std::count_if(e.judged.begin(), e.judged.end(),
                       [](const eval::JudgedSample& j) { return j.verdict == "WRONG"; });
}

/// False where a condition of --fail-if holds, or a judged backend is wrong.
bool report(const ParsedArgs& args, const eval::Evaluation& e) {
  TestReport tests(args, "assay eval", kMeasured);
  bool passed = true;
  const auto hold = [&](const std::string& group, const std::string& name, const Measured& measured) {
    const bool is_good = tests.check(group, name, measured);
    passed = passed && is_good;
    tests.add(
        {.group = group, .name = name, .how = is_good ? TestResult::How::kPassed : TestResult::How::kFailed});
  };
  for (const eval::Row& row : e.rows) {
    Measured measured = {{"nan", static_cast<double>(row.tally.nan)}};
    if (const auto value = row.tally.figure(row.kind).value) measured.emplace_back(row.metric, *value);
    hold(row.backend, row.output.empty() ? row.metric : row.metric + ":" + row.output, measured);
  }
  hold("data set", "bad samples", {{"bad-samples", static_cast<double>(e.bad)}});
  const int64_t wrong = wrong_samples(e);
  if (e.judged_worst > 0) hold("data set", "wrong", {{"wrong", static_cast<double>(wrong)}});
  tests.save();
  return passed && wrong == 0;
}

/// The shard that ends first must not merge its result with what an earlier evaluation has left of another.
void remove_old_part(const std::string& path) {
  std::error_code ec;
  if (std::filesystem::is_regular_file(path, ec)) std::filesystem::remove(path, ec);
}

int run(CommandContext& context) {
  const ParsedArgs& args = context.args();
  poly::EvaluationSettings settings = read_settings(context);
  check(args, settings);
  const ShardChoice part = read_shard(args, /*asks_mpi=*/!args.has("--only"));
  const std::string output = args.text("-o").value_or("");
  settings.output = output;
  if (part.shard) {
    if (output.empty())
      log::critical(ErrorCode::kInvalidArgument,
                    "The result of a shard is lost unless -o names a file for it.");
    settings.shard = fmt::format("{}/{}", part.shard->index, part.shard->count);
    settings.output = part.path_of(output);
  }
  const eval::EvalOptions options = poly::evaluation_options(settings, context.registries(), {});
  context.announce();
  if (part.is_automatic && !settings.resume) remove_old_part(settings.output);
  Renderer renderer;
  eval::Evaluation result = eval::evaluate(options, renderer);
  if (!settings.output.empty()) log::info("Saving the result to {}", settings.output);
  if (part.is_automatic) {
    const auto whole = eval::merge_shards(output, part.shard->count, options.functions);
    if (!whole) {
      log::info("{}", evaluation_text(result));
      return 0;
    }
    log::info("All {} shards are done: saving their merged result to {}", part.shard->count, output);
    result = *whole;
  }
  log::info("{}", evaluation_text(result));
  return report(args, result) ? 0 : 1;
}

}  // namespace

extern constinit const Command def;
constinit const Command def = {
    .name = "eval",
    .summary = "Evaluate backends over a data set, in one process or in shards.",
    .description =
        "Runs backends over a data set, sample by sample in bounded memory, and measures them against "
        "labels, a "
        "golden backend or float64: means and proportions with confidence intervals, the worst samples with "
        "their "
        "inputs, and, with --judge, which backend is wrong on those. Results of shards merge to the bytes of "
        "one "
        "process: docs/guide/evaluating.md.",
    .add_options = add_options,
    .run = run,
};

}  // namespace assay::cli::command_eval
