#include "debug/check_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>

#include "assay/error.h"
#include "debug/failure_text.h"

namespace assay::debug {
namespace {

constexpr std::string_view kCandidate = "{}";

std::string signal_text(int code) {
  const int signal = code - 128;
  if (signal == SIGXFSZ) return "it wrote a file beyond the limit";
  if (code > 128 && signal < NSIG && sigabbrev_np(signal) != nullptr)
    return fmt::format("signal {} ({})", signal, sigdescr_np(signal));
  return fmt::format("exit code {}", code);
}

bool belongs_to_path(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_.-/").find(c) != std::string_view::npos;
}

/// Where the whole path stands in the word, from `at` on.
size_t find_path(std::string_view word, std::string_view path, size_t at) {
  for (; (at = word.find(path, at)) != std::string_view::npos; ++at) {
    const size_t end = at + path.size();
    const bool begins = at == 0 || !belongs_to_path(word[at - 1]);
    if (begins && (end == word.size() || !belongs_to_path(word[end]))) return at;
  }
  return std::string_view::npos;
}

/// Puts `to` in the place of each occurrence that `find` gives.
template <typename Find>
void replace_each(std::string& word, size_t length, const std::string& to, Find&& find) {
  for (size_t at = 0; (at = find(word, at)) != std::string::npos; at += to.size())
    word.replace(at, length, to);
}

void replace_path(std::string& word, const std::string& from, const std::string& to) {
  replace_each(word, from.size(), to,
               [&](std::string_view text, size_t at) { return find_path(text, from, at); });
}

/// A command that runs beside others.
class CommandCheckRun final : public CheckRun {
 public:
  CommandCheckRun(CheckCommand& check, std::vector<std::string> command)
      : check_(check), command_(std::move(command)), run_(command_, check.options().limits) {}
  void watch(std::vector<pollfd>& fds) const override { run_.watch(fds); }
  bool advance() override { return run_.advance(); }
  Answer answer() override { return check_.judge(run_.result()); }
  void tell(SearchObserver& observer, const Answer& answer) override {
    observer.begin_command(command_);
    observer.end_command(run_.result(), answer);
  }

 private:
  CheckCommand& check_;
  std::vector<std::string> command_;
  CommandRun run_;
};

}  // namespace

struct CheckCommand::Regexes {
  std::vector<std::unique_ptr<RE2>> list;
};

CheckCommand::CheckCommand(CheckOptions options)
    : options_(std::move(options)), regexes_(std::make_unique<Regexes>()) {
  require(!options_.command.empty() && !options_.command.front().empty(), ErrorCode::kInvalidArgument,
          "the check has no command");
  program_path(options_.command.front());
  for (const std::string& text : options_.fail_regexes) {
    RE2::Options quiet;
    quiet.set_log_errors(false);
    auto regex = std::make_unique<RE2>(text, quiet);
    require(regex->ok(), ErrorCode::kInvalidArgument, "'{}' is not a regular expression of RE2: {}", text,
            regex->error());
    regexes_->list.push_back(std::move(regex));
  }
}

CheckCommand::~CheckCommand() = default;

std::vector<std::string> CheckCommand::command_for(const std::string& candidate) const {
  return command_for(CheckFiles{.candidate = candidate});
}

std::vector<std::string> CheckCommand::command_for(const CheckFiles& files) const {
  std::vector<std::string> words = options_.command;
  for (std::string& word : words) {
    for (const auto& [shared, own] : files.own) replace_path(word, shared, own);
    replace_each(word, kCandidate.size(), files.candidate,
                 [](std::string_view text, size_t at) { return text.find(kCandidate, at); });
  }
  return words;
}

Answer CheckCommand::check(const std::string& candidate, SearchObserver& observer) {
  const std::vector<std::string> command = command_for(candidate);
  observer.begin_command(command);
  const CommandResult result = run_command(command, options_.limits);
  const Answer answer = judge(result);
  observer.end_command(result, answer);
  return answer;
}

std::unique_ptr<CheckRun> CheckCommand::begin(const CheckFiles& files) {
  return std::make_unique<CommandCheckRun>(*this, command_for(files));
}

void CheckCommand::require_own_files(const CheckFiles& files) const {
  const auto names = [&](std::string_view what, bool is_whole) {
    return std::any_of(options_.command.begin(), options_.command.end(), [&](std::string_view word) {
      return (is_whole ? find_path(word, what, 0) : word.find(what)) != std::string_view::npos;
    });
  };
  for (const auto& [path, own] : files.own) {
    if (names(path, true) || (path == files.candidate && names(kCandidate, false))) continue;
    fail(
        ErrorCode::kInvalidArgument,
        "checks can run side by side only where each gets files of its own, and the check's command does not "
        "name {}{}",
        path, path == files.candidate ? " or {}" : "");
  }
}

bool CheckCommand::has_matching_output(const CommandResult& result) const {
  const std::string output = result.standard_output + result.standard_error;
  return std::any_of(regexes_->list.begin(), regexes_->list.end(),
                     [&](const auto& regex) { return RE2::PartialMatch(output, *regex); });
}

bool CheckCommand::is_failure(const CommandResult& result) const {
  const auto has = [&](const std::vector<int64_t>& codes) {
    return std::find(codes.begin(), codes.end(), result.exit_code) != codes.end();
  };
  if (has(options_.ignore_fail_codes)) return false;
  const bool asks_output = !regexes_->list.empty();
  if (!options_.fail_codes.empty())
    return has(options_.fail_codes) && (!asks_output || has_matching_output(result));
  return asks_output ? has_matching_output(result) : result.exit_code != 0;
}

std::string CheckCommand::describe(const CommandResult& result) const {
  std::string text = signal_text(result.exit_code);
  // A crash is told by its signal; what came before it may be anything.
  if (result.exit_code > 128) return text;
  const std::string said = failure_text(result.standard_error + "\n" + result.standard_output);
  return said.empty() ? text : text + ": " + said;
}

Answer CheckCommand::judge(const CommandResult& result) {
  Answer answer;
  answer.seconds = result.seconds;
  if (result.timed_out) {
    answer.kind = AnswerKind::kTimeOut;
    answer.failure = "time-out";
  } else if (is_failure(result)) {
    answer.kind = AnswerKind::kFailure;
    answer.failure = describe(result);
  } else {
    return answer;
  }
  if (failure_.empty()) {
    failure_ = answer.failure;
    answer.kind = AnswerKind::kFailure;
    return answer;
  }
  const bool compares = options_.same_failure && options_.fail_codes.empty() && options_.fail_regexes.empty();
  if (answer.failure == failure_)
    answer.kind = AnswerKind::kFailure;
  else if (compares && answer.kind == AnswerKind::kFailure)
    answer.kind = AnswerKind::kOtherFailure;
  return answer;
}

}  // namespace assay::debug
