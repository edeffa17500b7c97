#include "debug/check_command.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "assay/error.h"
#include "base/temporary_folder.h"
#include "debug/failure_text.h"

namespace assay::debug::check_command_test {
namespace {

using Words = std::vector<std::string>;

Words shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

Answer answer_to(CheckOptions options, const std::string& text) {
  options.command = shell(text);
  CheckCommand check(options);
  return check.judge(run_command(check.options().command, options.limits));
}

TEST(CheckCommand, ExitCodesAreAsShellsGiveThem) {
  EXPECT_EQ(run_command({"true"}, 0).exit_code, 0);
  EXPECT_EQ(run_command(shell("exit 7"), 0).exit_code, 7);
  EXPECT_EQ(run_command(shell("kill -SEGV $$"), 0).exit_code, 139);
  const CommandResult both = run_command(shell("echo out; echo err >&2"), 0);
  EXPECT_EQ(both.standard_output, "out\n");
  EXPECT_EQ(both.standard_error, "err\n");
}

TEST(CheckCommand, CodesAndExpressionsDecide) {
  EXPECT_TRUE(answer_to({}, "exit 0").passed());
  EXPECT_FALSE(answer_to({}, "exit 2").passed());
  EXPECT_TRUE(answer_to({.fail_codes = {1}}, "exit 2").passed());
  EXPECT_FALSE(answer_to({.fail_codes = {1, 2}}, "exit 2").passed());
  EXPECT_TRUE(answer_to({.ignore_fail_codes = {2}}, "exit 2").passed());
  EXPECT_FALSE(answer_to({.fail_regexes = {"b.d"}}, "echo really bad").passed());
  EXPECT_TRUE(answer_to({.fail_regexes = {"b.d"}}, "exit 1").passed());
  EXPECT_TRUE(answer_to({.fail_codes = {1}, .fail_regexes = {"bad"}}, "echo bad").passed());
  EXPECT_FALSE(answer_to({.fail_codes = {0}, .fail_regexes = {"good", "bad"}}, "echo bad >&2").passed());
}

TEST(CheckCommand, AHangIsEndedWithAllThatItStarted) {
  const TemporaryFolder folder;
  const std::string pid_file = folder / "pid";
  const Answer answer =
      answer_to({.limits = {.timeout_seconds = 0.5}}, "sleep 100 & echo $! > " + pid_file + "; wait");
  EXPECT_EQ(answer.failure, "time-out");
  EXPECT_LT(answer.seconds, 20);
  pid_t pid = 0;
  std::ifstream(pid_file) >> pid;
  ASSERT_GT(pid, 0);
  // It may be a zombie of the system's first process for a moment.
  for (int i = 0; i < 100 && ::kill(pid, 0) == 0; ++i) ::usleep(20000);
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(CheckCommand, WhatItDoesToItsGroupDoesNotReachUs) {
  EXPECT_EQ(run_command(shell("kill -KILL 0"), 0).exit_code, 137);
}

TEST(CheckCommand, AFileBeyondTheLimitEndsIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "big";
  const Answer answer =
      answer_to({.limits = {.largest_file = 1 << 20}}, "head -c 50000000 /dev/zero > " + path);
  EXPECT_EQ(answer.failure, "it wrote a file beyond the limit");
  EXPECT_EQ(std::filesystem::file_size(path), 1U << 20);
  EXPECT_TRUE(answer_to({.limits = {.largest_file = 1 << 20}}, "head -c 1000 /dev/zero > " + path).passed());
}

TEST(CheckCommand, TimeThatNobodyLookedIsNotItsOwn) {
  CommandRun run(shell("echo done"), {.timeout_seconds = 0.3});
  ::usleep(800000);
  while (!run.advance()) ::usleep(1000);
  EXPECT_FALSE(run.result().timed_out);
  EXPECT_EQ(run.result().standard_output, "done\n");
}

TEST(CheckCommand, ADaemonDoesNotKeepItWaiting) {
  const CommandResult result = run_command(shell("sleep 100 & exit 3"), 0);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_LT(result.seconds, 20);
}

TEST(CheckCommand, OutputWithoutEndIsCutInTheMiddle) {
  const CommandResult result = run_command(shell("echo first; yes | head -c 50000000; echo last"), 0);
  EXPECT_LT(result.standard_output.size(), 5U << 20);
  EXPECT_TRUE(result.standard_output.starts_with("first\n"));
  EXPECT_TRUE(result.standard_output.ends_with("last\n"));
  EXPECT_NE(result.standard_output.find("bytes are left out here"), std::string::npos);
}

TEST(CheckCommand, AnotherFailureIsToldFromTheFirst) {
  const TemporaryFolder folder;
  const std::string script = folder / "check.sh";
  const auto write = [&](const std::string& text) {
    std::ofstream(script) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  };
  write("echo \"[E] FAILED | Output: 'a' | error 3e-3 at [1, 2]\"; exit 1");
  CheckCommand check({.command = {script, "{}"}, .same_failure = true});
  const auto answer = [&] { return check.judge(run_command(check.command_for("m.onnx"), 0)); };
  EXPECT_EQ(answer().kind, AnswerKind::kFailure);
  write("echo \"[E] FAILED | Output: 'other_17' | error 5.25e+1 at [7, 0]\"; exit 1");
  EXPECT_EQ(answer().kind, AnswerKind::kFailure) << "the same of another output";
  write("echo '[!] the model is invalid'; exit 1");
  EXPECT_EQ(answer().kind, AnswerKind::kOtherFailure);
  write("kill -SEGV $$");
  EXPECT_EQ(answer().kind, AnswerKind::kOtherFailure);
  write("exit 0");
  EXPECT_EQ(answer().kind, AnswerKind::kPass);
  EXPECT_EQ(check.command_for("m.onnx"), (Words{script, "m.onnx"}));
}

TEST(CheckCommand, WhatCannotBeStartedIsSaid) {
  const auto message = [](CheckOptions options) {
    try {
      CheckCommand check(std::move(options));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message({.command = {}}).find("no command"), std::string::npos);
  EXPECT_NE(message({.command = {"no-such-program"}}).find("in no folder of PATH"), std::string::npos);
  EXPECT_NE(message({.command = {"/no/such"}}).find("is not there"), std::string::npos);
  EXPECT_NE(message({.command = {"true"}, .fail_regexes = {"("}}).find("regular expression"),
            std::string::npos);
  const TemporaryFolder folder;
  std::ofstream(folder / "text") << "text";
  EXPECT_NE(message({.command = {folder / "text"}}).find("not executable"), std::string::npos);
  std::ofstream(folder / "data") << "\x7f"
                                    "ELF nonsense";
  std::filesystem::permissions(folder / "data", std::filesystem::perms::owner_all);
  EXPECT_THROW(run_command({folder / "data"}, 0), Error);
}

TEST(FailureText, NamesTheExceptionOfATraceback) {
  EXPECT_EQ(failure_text("Traceback (most recent call last):\n  File \"/a/b.py\", line 3\n    "
                         "x()\nValueError: shape (3, 4) of 'conv_1'\n"),
            failure_text("noise\nTraceback (most recent call last):\n  File \"c.py\", line 9\nValueError: "
                         "shape (10, 2) of 'y'\n"));
  EXPECT_NE(failure_text("Traceback (most recent call last):\n  x\nValueError: a\n"),
            failure_text("Traceback (most recent call last):\n  x\nKeyError: a\n"));
  EXPECT_EQ(failure_text("all is well\n"), "");
  // Where it begins is known better the fewer nodes there are.
  EXPECT_EQ(failure_text("[E] Wrong: trt-runner-N0-1, node 'a' (Relu)\n"),
            failure_text("[E] Wrong: trt-runner-N0-1 output 'y'\n"));
  // A log that informs of how errors are measured tells of none.
  EXPECT_EQ(failure_text("[I]   Tolerance: [abs=1] | Checking elemwise error\n[E] FAILED | it differs\n"),
            "[E] FAILED | it differs");
  EXPECT_EQ(failure_text("[V] 0 errors\n"), "");
}

}  // namespace
}  // namespace assay::debug::check_command_test
