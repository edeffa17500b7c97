#include "cli/cli.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "assay/error.h"
#include "assay/version.h"
#include "base/held_error.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "base/python_repr.h"
#include "base/time_trace.h"
#include "cli/bench_options.h"
#include "cli/interrupt_request.h"
#include "cli/option_paths.h"
#include "cli/options/extensions.h"
#include "cli/options/logging.h"
#include "cli/options/resources.h"
#include "cli/program_parser.h"
#include "cli/registries.h"
#include "cli/report_page.h"
#include "cli/trace_output.h"
#include "console/failure.h"
#include "console/log_record.h"
#include "console/run_frame.h"
#include "console/terminal.h"
#include "console/wording.h"
#include "debug/command_run.h"
#include "view/trace_file.h"

namespace assay::cli {
namespace {

/// The upstream version whose behaviour the name `polygraphy` promises.
constexpr const char* kPolygraphyVersion = "0.53.6";

void print_error(std::string_view text) {
  const std::string shown = wrapped_for(STDERR_FILENO, text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
  std::fflush(stderr);
}

std::string binary_directory() {
  std::error_code ec;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", ec);
  return ec ? std::string(".") : path.parent_path().string();
}

Invocation invocation_of(std::span<const std::string> words, std::chrono::steady_clock::time_point start) {
  Invocation result;
  result.start = start;
  if (!words.empty()) result.path = words.front();
  result.program = std::filesystem::path(result.path).filename();
  for (const std::string& word : words)
    result.command_line += (result.command_line.empty() ? "" : " ") + word;
  return result;
}

/// Name, version and path of the program, in upstream's format.
std::string module_text(const Invocation& invocation, const char* name) {
  const std::string directory[] = {binary_directory()};
  return fmt::format("{} | Version: {} | Path: {}", name,
                     invocation.as_polygraphy() ? kPolygraphyVersion : kVersion, python_list_repr(directory));
}

std::string version_text(const Invocation& invocation) {
  if (invocation.as_polygraphy()) return module_text(invocation, "Polygraphy") + "\n";
  return fmt::format("assay {}\n", kVersion);
}

/// The one command of the name `trtexec`.
const Command& trtexec_command() { return command_bench::def; }

ArgParser root_parser(const Invocation& invocation, const Registries& registries) {
  if (is_trtexec(invocation)) {
    ArgParser parser(invocation.program, std::string(trtexec_command().description));
    add_bench_options(parser, /*as_trtexec=*/true);
    add_logging_options(parser);
    add_extension_options(parser);
    add_resource_options(parser);
    return parser;
  }
  return program_parser(invocation.program, registries);
}

const Command& find_command(const std::vector<std::string>& path, const Invocation& invocation,
                            const Registries& registries) {
  if (is_trtexec(invocation)) return trtexec_command();
  const Command* found = registries.commands.find(path);
  require(found != nullptr && found->run != nullptr, ErrorCode::kInternal, "command {} cannot be run",
          fmt::join(path, " "));
  return *found;
}

/// Upstream's line on stdout; suggestions on stderr, which scripts do not parse.
int report_unrecognized(const ParsedArgs& args, const Invocation& invocation) {
  log::error("Unrecognized Options: {}", python_list_repr(args.unrecognized()));
  log::flush();
  for (const std::string& word : args.unrecognized()) {
    if (!word.starts_with("--")) continue;
    const std::string near = nearest_name(word.substr(0, word.find('=')), args.known_names());
    if (!near.empty())
      print_error(fmt::format("{}: {} is not an option; did you mean {}?\n", invocation.program, word, near));
  }
  return 1;
}

void refuse_unavailable(const ParsedArgs& args) {
  for (const Option* option : args.given())
    if (!option->refusal.empty())
      log::critical(ErrorCode::kUnsupported, "{} is not available yet: {}", option->label(), option->refusal);
}

/// True when this failure has an end line: upstream prints it for expected failures, and others end the
/// program immediately.
struct Outcome {
  int status = 1;
  bool expected = true;
  bool is_told = false;  ///< why it failed: by an exception
};

template <typename Body>
Outcome guarded(Body&& body) {
  try {
    return {.status = body()};
  } catch (...) {
    return {.expected = report_exception(), .is_told = true};
  }
}

/// The line that marks the begin or the end of a run of `trtexec`, in its format.
void print_trtexec_mark(const char* mark, const Invocation& invocation) {
  log::print(
      fmt::format("&&&& {} TensorRT.trtexec [assay v{}] # {}\n", mark, kVersion, invocation.command_line));
}

double seconds_since_start(const Invocation& invocation) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - invocation.start).count();
}

bool wants_report(const Command& command, const ParsedArgs& args) {
  return command.reports && args.declares("--report") && args.has("--report");
}

/// The page and the timeline of a command, which it leaves also when it fails.
class Aftermath {
 public:
  explicit Aftermath(CommandContext& context) : context_(context) {
    // Before anything runs: a failure must not leave them in a file that they are not for.
    for (const char* option : {"--report", "--trace"}) check_option_path(context.args(), option);
    if (context.command().traces && !trace_path(context.args()).empty())
      recording_.emplace(context.invocation().command_line);
    if (wants_report(context.command(), context.args())) {
      record_.emplace();
      context.set_report_page(&page_.emplace());
    }
    if (page_ || recording_) interrupt_.emplace();
  }

  int run() {
    const trace::Span span(trace::Kind::kCommand,
                           fmt::format("{}", fmt::join(context_.args().commands(), " ")));
    return context_.command().run(context_);
  }

  void save(int status) { save(status, interrupt_ ? interrupt_->settle() : 0); }

  /// After a failure, which is what the command says.
  void save_failure(const std::exception& e) noexcept {
    int signal = interrupt_ ? interrupt_->settle() : 0;
    if (signal == 0 && dynamic_cast<const debug::Interrupted*>(&e) != nullptr) signal = SIGINT;
    try {
      if (page_ && signal == 0) page_->report().summary.emplace_back("error", e.what());
      save(1, signal);
    } catch (const std::exception& other) {
      log::warning("There is no report: {}", other.what());
    }
  }

 private:
  void save(int status, int signal) {
    if (page_) {
      if (signal != 0) page_->report().status = "Interrupted.";
      if (recording_) page_->report().timelines.push_back(trace_timeline(recording_->processes()));
      save_report(*page_, context_.args(),
                  {.command_line = context_.invocation().command_line,
                   .status = signal != 0 ? 128 + signal : status,
                   .seconds = seconds_since_start(context_.invocation()),
                   .log = record_->text()});
    }
    if (recording_) recording_->save(trace_path(context_.args()));
    if (signal == 0) return;
    log::flush();
    if (interrupt_)
      interrupt_->end_by(signal);
    else
      ::raise(signal);
  }

  CommandContext& context_;
  std::optional<TraceRecording> recording_;
  std::optional<LogRecord> record_;
  std::optional<ReportPage> page_;
  std::optional<InterruptRequest> interrupt_;  ///< where an interrupted command leaves files, too
};

int run_with_aftermath(CommandContext& context) {
  Aftermath aftermath(context);
  int status = 1;
  try {
    status = aftermath.run();
  } catch (const std::exception& e) {
    aftermath.save_failure(e);
    throw;
  }
  aftermath.save(status);
  return status;
}

int run_command(const ParsedArgs& args, const Invocation& invocation, const Registries& registries,
                std::span<const std::string> warnings) {
  const Command& command = find_command(args.commands(), invocation, registries);
  CommandContext context(command, args, invocation, registries);
  const Outcome outcome = guarded([&] {
    if (!command.passes_words_on) {
      apply_logging_options(args);
      apply_resource_options(args);
    }
    for (const std::string& w : warnings) log::warning("{}", w);
    refuse_unavailable(args);
    if (!command.checks_paths) check_option_paths(args);
    return run_with_aftermath(context);
  });
  if (outcome.status != 0 && !outcome.is_told)
    if (const std::string why = log::held_error(); !why.empty()) log::report_critical("{}", why);
  if (context.announced() && is_trtexec(invocation)) {
    print_trtexec_mark(outcome.status == 0 ? "PASSED" : "FAILED", invocation);
  } else if (context.announced() && outcome.expected) {
    print_end(outcome.status, seconds_since_start(invocation), invocation.command_line);
  }
  return outcome.status;
}

/// The command line if no further modules are needed to parse it; nothing if they may add options.
std::optional<ParsedArgs> parsed_without(const ArgParser& parser, std::span<const std::string> words) {
  try {
    ParsedArgs args = parser.parse(words);
    if (args.wants_help() || !args.unrecognized().empty() || words.empty()) return std::nullopt;
    return args;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// Commands that inspect modules must not depend on them, and forwarded words are not ours.
bool needs_no_modules(const Registries& registries, std::span<const std::string> words) {
  if (words.size() < 2) return false;
  if (words.size() > 2 && words[1] == "inspect" && words[2] == "extensions") return true;
  const Command* command = registries.commands.find(words.subspan(1, 1));
  return command != nullptr && command->passes_words_on;
}

/// True when Python packages may matter to this line of `run`: it has help or an unknown option.
bool may_need_plugins(const ArgParser& parser, std::span<const std::string> words) {
  if (words.empty() || words[0] != command_run::def.name) return false;
  try {
    const ParsedArgs args = parser.parse(words);
    const auto& rest = args.unrecognized();
    return args.wants_help() ||
           std::any_of(rest.begin(), rest.end(), [](const std::string& w) { return w.starts_with("--"); });
  } catch (const UsageError&) {
    return false;
  }
}

/// Additions by packages, and the reasons of failures. Without an interpreter there are none.
script::RunPlugins find_plugins() {
  try {
    return script::list_run_plugins();
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kNotFound) return {};
    return {.problems = {e.what()}};
  }
}

void print_warnings(std::span<const std::string> sentences) {
  for (const std::string& s : sentences) print_error(fmt::format("[W] {}\n", s));
}

/// Reads a command line by what the modules and plugins add that it may be about, and loads no others.
class LineReader {
 public:
  LineReader(const Invocation& invocation, std::span<const std::string> words)
      : invocation_(invocation), words_(words) {}

  /// The modules that the line names or is about; the others wait.
  void load_needed_modules() {
    if (needs_no_modules(registries_, words_)) return;
    std::vector<extension::Candidate> now = extensions_of(options());
    const auto waits = [&](const extension::Candidate& c) { return !c.is_needed_by(options()); };
    std::copy_if(now.begin(), now.end(), std::back_inserter(later_), waits);
    std::erase_if(now, waits);
    left_out_ = load_extensions(registries_, now);
  }

  /// Refers to this object. Throws UsageError.
  ParsedArgs read() {
    parser_ = root_parser(invocation_, registries_);
    if (!later_.empty()) {
      if (std::optional<ParsedArgs> args = parsed_without(*parser_, options())) return *std::move(args);
      load_other_modules();
    }
    if (!is_trtexec(invocation_) && may_need_plugins(*parser_, options())) load_plugins();
    try {
      return parser_->parse(options());
    } catch (const UsageError&) {
      // The error may be due to a module that was left out, such as an option that it adds.
      print_warnings(left_out_);
      throw;
    }
  }

  const ArgParser& parser() const { return *parser_; }
  const Registries& registries() const { return registries_; }
  /// Why modules and plugins are not there, a sentence each.
  std::span<const std::string> left_out() const { return left_out_; }

 private:
  std::span<const std::string> options() const { return words_.subspan(1); }

  /// Help names what all of them add, and so do messages about options.
  void load_other_modules() {
    for (std::string& w : load_extensions(registries_, later_)) left_out_.push_back(std::move(w));
    parser_ = root_parser(invocation_, registries_);
  }

  void load_plugins() {
    registries_.plugins = find_plugins();
    for (const std::string& problem : registries_.plugins.problems) left_out_.push_back(problem);
    if (!registries_.plugins.runners.empty() || !registries_.plugins.groups.empty())
      parser_ = root_parser(invocation_, registries_);
  }

  const Invocation& invocation_;
  std::span<const std::string> words_;
  Registries registries_;
  std::vector<extension::Candidate> later_;
  std::vector<std::string> left_out_;
  std::optional<ArgParser> parser_;
};

/// The answer to a line that asks about the program instead of running it.
std::optional<std::string> information(const ParsedArgs& args, const ArgParser& parser,
                                       const Invocation& invocation, bool is_bare) {
  if (is_trtexec(invocation) && is_bare) return parser.help(help_width());
  if (args.wants_help()) return args.help_text();
  if (args.declares("--version") && args.has("--version")) return version_text(invocation);
  return std::nullopt;
}

/// Where there is hardly room for an option with its value, they part.
std::string help_text(const std::string& text) {
  constexpr size_t kNarrow = 40;
  return text_columns() < kNarrow ? wrapped_for(STDOUT_FILENO, text) : text;
}

int parse_and_run(const Invocation& invocation, std::span<const std::string> words) {
  LineReader line(invocation, words);
  const Outcome loaded = guarded([&] {
    line.load_needed_modules();
    return 0;
  });
  if (loaded.status != 0) return loaded.status;
  if (words.size() == 1 && !invocation.as_polygraphy() && !is_trtexec(invocation)) {
    log::print(help_text(first_page(program_parser(invocation.program, line.registries()), help_width())));
    return 0;
  }
  ParsedArgs args = line.read();
  args.set_upstream(invocation.as_polygraphy() || is_trtexec(invocation));
  if (const auto text = information(args, line.parser(), invocation, words.size() == 1)) {
    log::print(help_text(*text));
    return 0;
  }
  if (!args.unrecognized().empty()) {
    print_warnings(line.registries().plugins.problems);
    return report_unrecognized(args, invocation);
  }
  return run_command(args, invocation, line.registries(), line.left_out());
}

}  // namespace

void CommandContext::announce() {
  announced_ = true;
  if (is_trtexec(invocation_)) return print_trtexec_mark("RUNNING", invocation_);
  print_begin(invocation_.command_line);
  if (log::enabled(log::Severity::kVerbose))
    log::verbose("Loaded Module: {}",
                 module_text(invocation_, invocation_.as_polygraphy() ? "polygraphy" : "assay"));
}

int run_command_line(std::span<const std::string> words) {
  const auto start = std::chrono::steady_clock::now();
  const Invocation invocation = invocation_of(words, start);
  open_terminal_log();
  if (!invocation.as_polygraphy() && !is_trtexec(invocation)) wrap_terminal_log();
  use_words_of_options(is_trtexec(invocation));
  int status = 1;
  try {
    status = parse_and_run(invocation, words);
  } catch (const UsageError& e) {
    print_error(fmt::format("{}{}: error: {}\n", e.usage(), e.program(), e.what()));
    status = is_trtexec(invocation) ? 1 : 2;
  } catch (const std::bad_alloc&) {
    log::report_critical("{}", kOutOfMemory);
  } catch (const std::exception& e) {
    log::report_critical("Internal error: {}", e.what());
  }
  return close_terminal_log(status);
}

}  // namespace assay::cli
