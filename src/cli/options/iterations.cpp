#include "cli/options/iterations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "assay/error.h"
#include "base/cpus.h"
#include "base/log.h"
#include "base/python_repr.h"
#include "cli/model_editing.h"
#include "cli/values.h"
#include "debug/accuracy_goal.h"
#include "debug/check_command.h"
#include "debug/repeated_check.h"
#include "run/python_parse.h"

namespace assay::cli {
namespace {

OptionGroup& add_check_options(ArgParser& parser, const std::string& without_check) {
  OptionGroup& group = parser.add_group("Pass/Fail Reporting");
  group.options = {
      {.names = {"--check", "--check-inference"},
       .help = "The command that checks a candidate, with all that follows: it must be the last option. An "
               "exit code of 0 is a pass. "
               "{} in its words stands for the candidate's path. Without it, " +
               without_check + ".",
       .arity = Arity::kRemainder,
       .metavar = "COMMAND"},
      {.names = {"--fail-code", "--fail-returncode"},
       .help = "Exit codes of the check that are failures; all others are passes.",
       .arity = Arity::kAtLeastOne,
       .metavar = "CODE",
       .kind = ValueKind::kInteger,
       .exclusive = "codes"},
      {.names = {"--ignore-fail-code", "--ignore-fail-returncode"},
       .help = "Exit codes of the check that are passes.",
       .arity = Arity::kAtLeastOne,
       .metavar = "CODE",
       .kind = ValueKind::kInteger,
       .exclusive = "codes"},
      {.names = {"--fail-regex"},
       .help = "Regular expressions, one of which the check's output must match for a failure. Without "
               "--fail-code a match is a failure "
               "whatever the exit code is.",
       .arity = Arity::kAtLeastOne,
       .metavar = "REGEX"},
      {.names = {"--check-timeout"},
       .help = "Seconds after which a check is ended, with all that it started; that is a failure of its own "
               "kind. Default: none.",
       .metavar = "SECONDS",
       .kind = ValueKind::kNumber},
      {.names = {"--check-file-limit"},
       .help =
           "The size of the largest file that a check may write, as in 2G; one that writes more is ended by "
           "the system, which is a failure of its own kind. Default: none.",
       .metavar = "BYTES"},
      {.names = {"--show-output"},
       .help = "Show what the check prints when it passes, too.",
       .arity = Arity::kNone,
       .exclusive = "output"},
      {.names = {"--hide-fail-output"},
       .help = "Do not show what the check prints when it fails.",
       .arity = Arity::kNone,
       .exclusive = "output"},
  };
  return group;
}

/// How often a check is made, and how many in parallel.
void add_policy_options(OptionGroup& group, const IterationGroup& of) {
  if (of.has_repeat)
    group.options.push_back(
        {.names = {"--repeat"},
         .help =
             "Check each candidate so many times. One that passes and fails is flaky, which is a kind of its "
             "own: it is found where the whole is flaky, too. Default: 1.",
         .metavar = "N",
         .kind = ValueKind::kInteger});
  if (of.has_jobs)
    group.options.push_back(
        {.names = {"--jobs"},
         .help =
             "Make so many checks side by side: those that the search is likely to need next. The result is "
             "the same. 0: as many as there are cores. Default: 1.",
         .metavar = "N",
         .kind = ValueKind::kInteger});
}

void add_artifact_options(ArgParser& parser) {
  parser.add_group("Artifact Sorting").options = {
      {.names = {"--artifacts"},
       .help = "Files that a check leaves: they go to the folder `good` or `bad`, under a name with the "
               "iteration's number.",
       .arity = Arity::kAtLeastOne,
       .metavar = "FILE"},
      {.names = {"--art-dir", "--artifacts-dir"},
       .help = "The folder of these two folders; default: polygraphy_artifacts.",
       .metavar = "DIR"},
  };
}

void add_replay_options(OptionGroup& own) {
  own.options.push_back({.names = {"--load-debug-replay"},
                         .help = "Take the answers of the iterations that this file has.",
                         .metavar = "FILE"});
  own.options.push_back(
      {.names = {"--save-debug-replay"},
       .help = "Save the answers of all iterations after each. Default: polygraphy_debug_replay.json.",
       .metavar = "FILE"});
}

/// Interactive answers.
class AskedCheck final : public debug::Check {
 public:
  debug::Answer check(const std::string& candidate, debug::SearchObserver&) override {
    std::string question =
        fmt::format("Did '{}' [p]ass or [f]ail?", candidate.empty() ? "this iteration" : candidate);
    for (;;) {
      log::print(fmt::format(">>> {} ", question));
      log::flush();
      std::string line;
      require(static_cast<bool>(std::getline(std::cin, line)), ErrorCode::kInvalidArgument,
              "there is no answer on standard input, and no --check command");
      const char c =
          line.empty() ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(line.front())));
      if (c == 'p') return {};
      if (c == 'f') return {.kind = debug::AnswerKind::kFailure, .failure = "so it was answered"};
      question = "Please choose either: 'p' or 'f':";
    }
  }
  void require_own_files(const debug::CheckFiles&) const override {
    fail(ErrorCode::kInvalidArgument,
         "--jobs goes with a --check command: questions are asked one after the other");
  }
};

/// The number that --jobs gives.
int read_jobs(const ParsedArgs& args) {
  const int64_t jobs = args.declares("--jobs") ? args.integer("--jobs").value_or(1) : 1;
  constexpr int64_t kMost = 256;
  require(jobs >= 0 && jobs <= kMost, ErrorCode::kInvalidArgument, "--jobs must be from 0 to {}, and is {}",
          kMost, jobs);
  if (jobs != 1 && args.declares("--no-remove-intermediate") && args.has("--no-remove-intermediate"))
    log::critical(ErrorCode::kInvalidArgument,
                  "--no-remove-intermediate leaves the last candidate, and with --jobs there are several.");
  return jobs > 0 ? static_cast<int>(jobs) : available_cpus();
}

std::vector<int64_t> integers(const ParsedArgs& args, const std::string& option) {
  std::vector<int64_t> result;
  for (const std::string& word : args.list(option).value_or(std::vector<std::string>()))
    result.push_back(*python_int(word));
  return result;
}

}  // namespace

void add_iteration_options(ArgParser& parser, const IterationGroup& group) {
  add_policy_options(add_check_options(parser, group.without_check), group);
  add_artifact_options(parser);
  OptionGroup& own = parser.add_group("Iterative Debugging");
  if (!group.candidate.empty()) {
    own.options.push_back(
        {.names = {"--iter-artifact", "--intermediate-artifact"},
         .help = fmt::format("The path that each candidate gets; default: {}.", group.candidate),
         .metavar = "FILE"});
    own.options.push_back({.names = {"--no-remove-intermediate"},
                           .help = "Leave the last candidate there.",
                           .arity = Arity::kNone});
  }
  own.options.push_back({.names = {"--iter-info", "--iteration-info"},
                         .help = "A JSON file that says the number of the iteration while it runs.",
                         .metavar = "FILE"});
  if (group.has_until)
    own.options.push_back(
        {.names = {"--until"},
         .help =
             "When to stop: after the first iteration that passes (good) or fails (bad), or after so many.",
         .metavar = "good|bad|N",
         .required = true});
  if (group.has_replay) add_replay_options(own);
  if (!group.has_journal) return;
  own.options.push_back(
      {.names = {"--journal"},
       .help = "Keep each answer in this file. Default: " + group.journal + "; it goes when the search ends.",
       .metavar = "FILE"});
  own.options.push_back({.names = {"--resume"},
                         .help = "Go on with the search that the journal is of: no check is done twice.",
                         .arity = Arity::kNone});
}

std::unique_ptr<debug::Check> read_check(const ParsedArgs& args, bool compares) {
  const auto command = args.list("--check");
  if (!command) {
    log::start("Starting interactive debugging session since no `--check` command was provided");
    return std::make_unique<AskedCheck>();
  }
  debug::CheckOptions options;
  options.command = *command;
  options.fail_codes = integers(args, "--fail-code");
  options.ignore_fail_codes = integers(args, "--ignore-fail-code");
  options.fail_regexes = args.list("--fail-regex").value_or(std::vector<std::string>());
  options.same_failure = compares;
  options.limits.timeout_seconds = args.number("--check-timeout").value_or(0);
  require(options.limits.timeout_seconds >= 0 && std::isfinite(options.limits.timeout_seconds),
          ErrorCode::kInvalidArgument, "--check-timeout must be positive");
  if (const auto limit = args.text("--check-file-limit"))
    options.limits.largest_file = require_at_least("--check-file-limit", parse_byte_count(*limit), 1);
  auto own = std::make_unique<debug::CheckCommand>(std::move(options));
  const int64_t runs = args.declares("--repeat") ? args.integer("--repeat").value_or(1) : 1;
  constexpr int64_t kMost = 1000;
  require(runs >= 1 && runs <= kMost, ErrorCode::kInvalidArgument, "--repeat must be from 1 to {}, and is {}",
          kMost, runs);
  if (runs == 1) return own;
  return std::make_unique<debug::RepeatedCheck>(std::move(own), static_cast<int>(runs));
}

debug::IterationOptions read_iteration_options(const ParsedArgs& args, const std::string& candidate,
                                               const std::string& journal) {
  debug::IterationOptions options;
  if (!candidate.empty()) {
    options.candidate = args.text("--iter-artifact").value_or(candidate);
    options.removes_candidate = !args.has("--no-remove-intermediate");
    std::error_code failed;
    // A search that was killed leaves its last candidate.
    options.replaces_candidate =
        !journal.empty() && args.has("--resume") && std::filesystem::exists(journal, failed);
    if (!options.replaces_candidate && std::filesystem::exists(options.candidate, failed))
      log::critical(
          ErrorCode::kInvalidArgument,
          "{} already exists, refusing to overwrite.\n"
          "Please remove the file manually or specify a different path with `--intermediate-artifact`.",
          options.candidate);
  }
  options.iteration_info = args.text("--iter-info").value_or("");
  options.jobs = read_jobs(args);
  options.job_folder = (options.candidate.empty() ? "polygraphy_debug" : options.candidate) + ".jobs";
  options.is_resumed = args.declares("--resume") && args.has("--resume");
  if (args.declares("--save-debug-replay")) {
    options.load_replay = args.text("--load-debug-replay").value_or("");
    options.save_replay = args.text("--save-debug-replay").value_or("polygraphy_debug_replay.json");
  }
  options.artifacts = args.list("--artifacts").value_or(std::vector<std::string>());
  options.artifact_folder = args.text("--art-dir").value_or("polygraphy_artifacts");
  return options;
}

std::string file_identity(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  const auto time = std::filesystem::last_write_time(path, failed);
  return failed ? "" : fmt::format("{} bytes, {}", size, time.time_since_epoch().count());
}

Until read_until(const ParsedArgs& args) {
  const std::string text = args.text("--until").value_or("");
  if (text == "good") return {.success = true};
  if (text == "bad") return {.success = false};
  const auto count = python_int(text);
  if (!count)
    log::critical(ErrorCode::kInvalidArgument,
                  "--until value must be an integer, 'good', or 'bad', but was: {}", text);
  return {.count = *count};
}

void repeat_until(const Until& until, debug::Iterations& iterations,
                  const debug::Iterations::Candidate& candidate) {
  constexpr int64_t kMost = 100000;  // an arbitrary limit that no search reaches
  iterations.begin("");
  const auto numbered = [&](int64_t i) {
    debug::Iterations::Candidate one = candidate;
    one.question = std::to_string(i);
    return one;
  };
  for (int64_t i = 0; i < kMost; ++i) {
    std::vector<debug::Iterations::Candidate> next;
    const int64_t last = until.success ? kMost : std::max<int64_t>(until.count, 1);
    for (int64_t k = i; k < std::min(last, i + iterations.jobs()); ++k) next.push_back(numbered(k));
    if (!candidate.instead) iterations.expect(std::move(next));
    const bool passed = iterations.run(numbered(i)).answer.passed();
    if (until.success ? passed == *until.success : i + 1 >= until.count) break;
    if (i + 1 == kMost)
      log::warning(
          "Maximum number of iterations reached: {}.\nIteration has been halted to prevent an infinite loop!",
          kMost);
  }
  iterations.end();
}

struct SearchText::Indentation {
  log::Indent indent;
};

SearchText::SearchText(const ParsedArgs& args, bool shows_kinds)
    : shows_output_(args.has("--show-output")),
      hides_failures_(args.has("--hide-fail-output")),
      shows_kinds_(shows_kinds) {
  for (const char* option : {"--load-inputs", "--data-loader-script"})
    if (args.declares(option) && args.has(option)) has_drawn_data_ = false;
}

SearchText::~SearchText() = default;

void SearchText::begin_stage(const std::string& what) { log::start("Searching: {}", what); }

void SearchText::begin_iteration(size_t index, std::optional<size_t> remaining) {
  indentation_ = std::make_unique<Indentation>();
  log::start(
      "RUNNING | Iteration {}{}", index + 1,
      remaining ? fmt::format(" | Approximately {} iteration(s) remaining", *remaining) : std::string());
}

void SearchText::use_known_answer(const debug::Answer& answer) {
  log::info("Loading iteration information from debug replay: success={}",
            answer.passed() ? "True" : "False");
}

void SearchText::begin_command(const std::vector<std::string>& command) {
  log::info("Running check command: {}", fmt::join(command, " "));
  log::flush();
}

void SearchText::end_command(const debug::CommandResult& result, const debug::Answer& answer) {
  if (!shows_output_ && (answer.passed() || hides_failures_)) return;
  log::info("========== CAPTURED STDOUT ==========\n{}", result.standard_output);
  const std::string error = fmt::format("========== CAPTURED STDERR ==========\n{}", result.standard_error);
  if (answer.passed())
    log::warning("{}", error);
  else
    log::error("{}", error);
}

void SearchText::move_artifact(const std::string& from, const std::string& to) {
  log::info("Moving {} to {}", from, to);
}

void SearchText::miss_artifact(const std::string& path, const std::string& reason) {
  if (reason.empty())
    log::error("Artifact: {} does not exist, skipping.\nWas the artifact supposed to be generated?", path);
  else
    log::error("Artifact: {} is not moved: {}", path, reason);
}

void SearchText::save_replay(const std::string& path) { log::info("Saving debug replay to {}", path); }

void SearchText::end_iteration(size_t index, const debug::Answer& answer, double seconds) {
  const std::string duration = python_float_repr(seconds);
  std::string measured = answer.measures.empty() ? "" : " | " + debug::Accuracy::from(answer.measures).str();
  if (answer.runs > 1) measured += fmt::format(" | Failed in {} of {} runs", answer.failed_runs, answer.runs);
  if (answer.passed())
    log::finish("PASSED | Iteration {} | Duration {}s{}", index + 1, duration, measured);
  else if (answer.kind == debug::AnswerKind::kFlaky && answer.runs > 1)
    ++flaky_, log::warning("FLAKY | Iteration {} | Duration {}s{}: {}", index + 1, duration, measured,
                           answer.failure);
  else if (!shows_kinds_ || answer.kind == debug::AnswerKind::kFailure)
    log::error("FAILED | Iteration {} | Duration {}s{}", index + 1, duration, measured);
  else
    log::warning("PASSED OVER | Iteration {} | Duration {}s{} | {}: {}", index + 1, duration, measured,
                 debug::answer_kind_name(answer.kind), answer.failure);
  indentation_.reset();
}

void SearchText::keep_file(const std::string& path) { log::warning("Could not clean up: {}", path); }

void SearchText::end_iterations(size_t count, size_t passed) {
  const double rate = static_cast<double>(passed) * 100 / static_cast<double>(count);
  log::finish("Finished {} iteration(s) | Passed: {}/{} | Pass Rate: {}%", count, passed, count,
              python_float_repr(rate));
  if (flaky_ > 0) log::info("The check flipped on {} of them.", flaky_);
}

void SearchText::begin_phase(const std::string& what) {
  if (shows_kinds_)
    log::start("Reducing {}", what);
  else
    log::start("Reducing model {}", what);
}

void SearchText::end_phase(const std::string& what, size_t left) {
  if (shows_kinds_)
    log::finish("Finished reducing {}: {} left", what, left);
  else
    log::finish("Finished reducing model {}", what);
}

void SearchText::mark(bool inputs, const std::vector<const Value*>& values, bool in_iteration) {
  std::optional<log::Indent> inner;
  if (in_iteration) inner.emplace();
  if (values.empty())
    log::warning(
        "No non-constant tensors are available to mark. "
        "Try folding constants in the model with `polygraphy surgeon sanitize --fold-constants`");
  std::vector<std::string> texts;
  for (const Value* v : values) texts.push_back(variable_text(*v));
  log::info("Marking model {}: [{}]", inputs ? "inputs" : "outputs", fmt::join(texts, ", "));
}

void SearchText::freeze(const Value& value, bool is_first) {
  const log::Indent inner;
  if (is_first && has_drawn_data_)
    log::warning(
        "This model includes multiple branches/paths. In order to continue reducing, one branch needs to be "
        "folded away.\n"
        "Please ensure that you have provided a data loader argument directly to `debug reduce` (i.e. prior "
        "to `--check`) "
        "if your `--check` command is using a non-default data loader.\n"
        "Not doing so may result in false negatives!\n");
  log::info("Freezing tensor: {} to eliminate branches.", variable_text(value));
}

void SearchText::evaluate() {
  log::info(
      "Running inference with ONNX-Runtime to determine metadata for intermediate tensors.\n"
      "This will cause intermediate models to have static shapes.");
}

}  // namespace assay::cli
