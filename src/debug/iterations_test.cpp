#include "debug/iterations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "assay/error.h"
#include "base/temporary_folder.h"
#include "debug/check_command.h"
#include "debug/minimal_subset.h"
#include "debug/ranges.h"

namespace assay::debug::iterations_test {
namespace {

namespace fs = std::filesystem;
using Set = std::vector<size_t>;

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Says what a search did, in its order.
class Seen final : public SearchObserver {
 public:
  void begin_command(const std::vector<std::string>& command) override { commands.push_back(command); }
  void end_iteration(size_t, const Answer& answer, double) override { kinds.push_back(answer.kind); }
  void miss_artifact(const std::string& path, const std::string&) override { missed.push_back(path); }
  std::vector<std::vector<std::string>> commands;
  std::vector<AnswerKind> kinds;
  std::vector<std::string> missed;
};

/// A search for the elements that fail together, by a shell command that reads the candidate, a list of
/// numbers.
class Search {
 public:
  Search(const std::string& script, int jobs, const std::string& more = "") {
    options.candidate = folder / "candidate.txt";
    options.jobs = jobs;
    options.job_folder = folder / "jobs";
    options.artifact_folder = folder / "sorted";
    command = {"/bin/sh", "-c", script, "check", options.candidate, folder / "log"};
    if (!more.empty()) {
      options.artifacts = {folder / more};
      command.push_back(folder / more);
    }
  }
  Iterations::Candidate candidate(std::span<const size_t> set) const {
    std::string text = " ";
    for (const size_t i : set) text += std::to_string(i) + " ";
    return {.write = [text](const std::string& path) { std::ofstream(path) << text; },
            .question = "set " + ranges_text(set),
            .state = {},
            .remaining = {},
            .instead = {}};
  }
  Set run(size_t count) {
    CheckCommand check({.command = command, .same_failure = true});
    Iterations iterations(options, check, seen);
    journal.emplace(Journal::resume(folder / "journal", {{"a", "search"}}));
    iterations.use(*journal);
    iterations.begin("");
    Set all(count);
    for (size_t i = 0; i < count; ++i) all[i] = i;
    iterations.seek(iterations.run(candidate(all)).answer);
    const Set found = minimal_subset(count, {.fails =
                                                 [&](std::span<const size_t> set) {
                                                   return iterations.run(candidate(set)).answer.kind ==
                                                          AnswerKind::kFailure;
                                                 },
                                             .cut_costs = {},
                                             .expect =
                                                 [&](const std::vector<Set>& sets) {
                                                   std::vector<Iterations::Candidate> next;
                                                   for (const Set& set : sets) next.push_back(candidate(set));
                                                   iterations.expect(std::move(next));
                                                 },
                                             .foresight = iterations.foresight()});
    checks = iterations.checks();
    return found;
  }
  /// The candidates that were checked to the end, as the check saw them.
  std::vector<std::string> checked() const {
    std::stringstream text(read(folder / "log"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  TemporaryFolder folder;
  IterationOptions options;
  std::vector<std::string> command;
  std::optional<Journal> journal;
  Seen seen;
  size_t checks = 0;
};

/// Fails with 3 and 17 together.
constexpr const char* kTwo =
    R"(sleep 0.01; cat "$1" >> "$2"; echo >> "$2"; grep -q ' 3 ' "$1" && grep -q ' 17 ' "$1" && echo error >&2 && exit 3; exit 0)";

TEST(Iterations, ChecksSideBySideFindTheSame) {
  Search one(kTwo, 1), three(kTwo, 3);
  EXPECT_EQ(one.run(24), (Set{3, 17}));
  EXPECT_EQ(three.run(24), (Set{3, 17}));
  EXPECT_EQ(three.checks, one.checks);
  EXPECT_EQ(three.seen.kinds, one.seen.kinds);
  EXPECT_GE(three.checked().size(), one.checked().size());
  EXPECT_FALSE(fs::exists(three.folder / "jobs"));
  EXPECT_FALSE(fs::exists(three.folder / "candidate.txt"));
  // Each had a file of its own.
  std::set<std::string> paths;
  for (const auto& words : three.seen.commands) EXPECT_TRUE(paths.insert(words[4]).second) << words[4];
}

/// Of a journal: no question has two answers.
void expect_no_line_twice(const std::string& journal) {
  std::stringstream text(journal);
  std::set<std::string> questions;
  for (std::string line; std::getline(text, line);) {
    if (line.find("\"question\"") == std::string::npos) continue;
    const std::string question = line.substr(0, line.find("\"answer\""));
    EXPECT_TRUE(questions.insert(question).second) << question << " was checked twice";
  }
}

TEST(Iterations, WhatWasAnsweredIsNotCheckedAgain) {
  Search search(kTwo, 3);
  search.run(24);
  const size_t before = search.checked().size(), checks = search.checks;
  expect_no_line_twice(read(search.folder / "journal"));
  EXPECT_EQ(search.run(24), (Set{3, 17}));
  EXPECT_EQ(search.checked().size(), before);
  EXPECT_EQ(search.checks, 0u);
  // As if it had been killed after some answers, in the middle of a line.
  const std::string journal = read(search.folder / "journal");
  for (const size_t part : {3U, 5U, 9U}) {
    std::ofstream(search.folder / "journal", std::ios::trunc)
        << journal.substr(0, journal.size() * part / 10);
    const size_t known = Journal::resume(search.folder / "journal", {{"a", "search"}}).size();
    search.options.is_resumed = true;
    fs::create_directories(search.folder / "jobs/7");
    EXPECT_EQ(search.run(24), (Set{3, 17}));
    EXPECT_LT(search.checks, checks);
    EXPECT_GE(search.journal->size(), known);
    expect_no_line_twice(read(search.folder / "journal"));
    EXPECT_FALSE(fs::exists(search.folder / "jobs"));
  }
}

TEST(Iterations, EachKeepsItsArtifacts) {
  Search search(R"(cp "$1" "$3"; grep -q ' 5 ' "$1" && exit 1; exit 0)", 3, "left.txt");
  EXPECT_EQ(search.run(16), Set{5});
  EXPECT_TRUE(search.seen.missed.empty());
  size_t good = 0, bad = 0;
  for (const auto& entry : fs::directory_iterator(search.folder / "sorted/good")) {
    ++good;
    EXPECT_EQ(read(entry.path().string()).find(" 5 "), std::string::npos);
  }
  for (const auto& entry : fs::directory_iterator(search.folder / "sorted/bad")) {
    ++bad;
    EXPECT_NE(read(entry.path().string()).find(" 5 "), std::string::npos);
  }
  EXPECT_EQ(good + bad, search.checks);
  EXPECT_FALSE(fs::exists(search.folder / "jobs"));
}

std::string error_of(const Search& search, const std::vector<std::string>& command) {
  try {
    CheckCommand check({.command = command});
    SearchObserver observer;
    Iterations iterations(search.options, check, observer);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Iterations, FilesThatWouldCollideAreRefused) {
  Search search("true", 2, "left.txt");
  const std::string candidate = search.options.candidate, left = search.options.artifacts[0];
  EXPECT_EQ(error_of(search, {"true", "{}", left}), "");
  EXPECT_EQ(error_of(search, {"true", "--in=" + candidate + ";", left}), "");
  EXPECT_NE(error_of(search, {"true", left}).find("does not name " + candidate), std::string::npos);
  EXPECT_NE(error_of(search, {"true", candidate + ".data", left}).find("does not name"), std::string::npos);
  EXPECT_NE(error_of(search, {"true", "{}"}).find("does not name " + left), std::string::npos);
  fs::create_directories(search.folder / "jobs");
  EXPECT_NE(error_of(search, {"true", "{}", left}).find("refusing to overwrite"), std::string::npos);
  search.options.is_resumed = true;
  EXPECT_EQ(error_of(search, {"true", "{}", left}), "");
  std::ofstream(search.folder / "jobs/notes.txt") << "somebody's";
  EXPECT_NE(error_of(search, {"true", "{}", left}).find("notes.txt"), std::string::npos);
  EXPECT_TRUE(fs::exists(search.folder / "jobs/notes.txt"));
}

}  // namespace
}  // namespace assay::debug::iterations_test
