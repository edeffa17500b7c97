// pass_fuzz: looks for a graph that a pass, alone, makes into one that gives something else.
//
//   pass_fuzz [--passes NAME,...] [--graphs N] [--seconds N] [--first N] [--seed N] [--table]
//
// For each pass N graphs, or as many as there is time for. drawn.def names what draws them. The float64
// reference evaluates what was edited before and after, in exact numbers and as the stored types round. A
// counterexample is printed as ONNX text with what it was fed; --first and --graphs 1 try it again. Exit
// status 1 when there is one, or when a pass edits too few of its graphs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "assay/error.h"
#include "base/crash_report.h"
#include "fuzz/passes/drawn.h"
#include "fuzz/passes/trial.h"
#include "passes/pass_set.h"

namespace assay::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

struct Drawn {
  const char* pass;
  void (*draw)(Draft&);
};

constexpr Drawn kDrawn[] = {
#define ASSAY_DRAWN(name) {#name, draw_##name},
#include "fuzz/passes/drawn.def"
#undef ASSAY_DRAWN
};

/// Printed of each pass, so that one cause does not hide the others.
constexpr int64_t kMostProblems = 3;
/// Of so many graphs one at least must be edited.
constexpr int64_t kGraphsOfAnEdit = 200;

struct Options {
  std::string passes;
  int64_t graphs = 1000, first = 0;
  double seconds = 0;
  uint64_t seed = 1;
  bool table = false;
};

struct Count {
  int64_t drawn = 0, graphs = 0, edited = 0, edits = 0, problems = 0;
  double seconds = 0;
};

uint64_t seed_of(const Options& o, std::string_view pass, int64_t i) {
  uint64_t hash = o.seed * 1000003;
  for (const char c : pass) hash = hash * 31 + static_cast<unsigned char>(c);
  return Random(hash ^ (static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15u)).next();
}

void try_one(const Options& o, const Drawn& drawn, const PassDef& pass, int64_t i, Count& count) {
  const std::string doing = fmt::format("the pass {}, on graph {} of seed {},", drawn.pass, i, o.seed),
                    remedy = fmt::format("`pass_fuzz --passes {} --seed {} --first {} --graphs 1` repeats it.",
                                         drawn.pass, o.seed, i);
  const CrashMark mark(doing, remedy);
  Draft draft(seed_of(o, drawn.pass, i));
  drawn.draw(draft);
  const Trial trial = try_pass(draft, pass);
  ++count.drawn;
  if (!trial.is_valid) return;
  ++count.graphs;
  count.edits += trial.edits;
  count.edited += trial.edits > 0 ? 1 : 0;
  if (trial.problem.empty()) return;
  if (count.problems++ >= kMostProblems) return;
  std::printf("%s, graph %lld of seed %llu: %s\n%s\n", drawn.pass, static_cast<long long>(i),
              static_cast<unsigned long long>(o.seed), trial.problem.c_str(), trial.text.c_str());
}

Count fuzz(const Options& o, const Drawn& drawn, const PassDef& pass) {
  Count count;
  const auto start = Clock::now();
  for (int64_t i = o.first;; ++i) {
    count.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (o.seconds > 0 ? count.seconds > o.seconds : i >= o.first + o.graphs) return count;
    try_one(o, drawn, pass, i, count);
  }
}

bool is_asked_for(const Options& o, std::string_view pass) {
  if (o.passes.empty()) return true;
  std::istringstream names(o.passes);
  for (std::string name; std::getline(names, name, ',');)
    if (name == pass) return true;
  return false;
}

int run(const Options& o) {
  bool good = true;
  Count all;
  if (o.table)
    std::puts(
        "| pass | graphs | edited | edits | counterexamples | seconds |\n|---|---:|---:|---:|---:|---:|");
  const auto row = [&](const char* name, const Count& c) {
    if (o.table)
      std::printf("| %s | %lld | %lld | %lld | %lld | %.0f |\n", name, static_cast<long long>(c.graphs),
                  static_cast<long long>(c.edited), static_cast<long long>(c.edits),
                  static_cast<long long>(c.problems), c.seconds);
    std::fflush(stdout);
  };
  for (const PassDef* pass : built_in_passes().all()) {
    if (!is_asked_for(o, pass->name)) continue;
    const Drawn* drawn = nullptr;
    for (const Drawn& each : kDrawn)
      if (pass->name == each.pass) drawn = &each;
    if (drawn == nullptr) {
      std::printf("nothing is drawn for the pass %s: add it to drawn.def\n", std::string(pass->name).c_str());
      good = false;
      continue;
    }
    const Count count = fuzz(o, *drawn, *pass);
    row(drawn->pass, count);
    if (count.drawn >= kGraphsOfAnEdit && count.edited * kGraphsOfAnEdit < count.drawn) {
      std::printf("%s edits %lld of %lld graphs: draw others\n", drawn->pass,
                  static_cast<long long>(count.edited), static_cast<long long>(count.drawn));
      good = false;
    }
    good = good && count.problems == 0;
    all.graphs += count.graphs;
    all.edited += count.edited;
    all.edits += count.edits;
    all.problems += count.problems;
    all.seconds += count.seconds;
  }
  row("all", all);
  return good ? 0 : 1;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--table") {
      o.table = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr) break;
    if (name == "--passes") o.passes = value;
    if (name == "--graphs") o.graphs = std::atoll(value);
    if (name == "--first") o.first = std::atoll(value);
    if (name == "--seconds") o.seconds = std::atof(value);
    if (name == "--seed") o.seed = static_cast<uint64_t>(std::atoll(value));
  }
  return o;
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) {
  assay::report_crashes();
  try {
    return assay::fuzz::run(assay::fuzz::parse(argc, argv));
  } catch (const assay::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
