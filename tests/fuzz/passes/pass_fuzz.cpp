// pass_fuzz: looks for a graph that a pass, alone, makes into one that gives something else.
//
//   pass_fuzz [--passes NAME,...] [--graphs N] [--seconds N] [--first N] [--seed N] [--seeds N] [--table]
//
// For each pass and each of N seeds from --seed on N graphs, or as many as there is time for. drawn.def names
// what draws them. The float64 reference evaluates what was edited before and after, in exact numbers and as
// the stored types round. A counterexample is printed as ONNX text with what it was fed; --first and --graphs
// 1 try it again. Exit status 1 when there is one, or when a pass edits too few of its graphs. With --planted
// the passes are those that are wrong on purpose (planted.cpp), and each must have a counterexample.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "assay/error.h"
#include "base/crash_report.h"
#include "fuzz/passes/drawn.h"
#include "fuzz/passes/planted.h"
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

/// At least one of this many graphs must be edited.
constexpr int64_t kGraphsOfAnEdit = 200;

struct Options {
  std::string passes;
  int64_t graphs = 1000, first = 0;
  double seconds = 0;
  uint64_t seed = 1, seeds = 1;
  bool table = false, planted = false;
  int64_t most_printed = 3;  ///< of each pass, so that one cause does not hide the others
};

struct Count {
  int64_t drawn = 0, graphs = 0, edited = 0, edits = 0, problems = 0;
  double seconds = 0;

  void add(const Count& other) {
    drawn += other.drawn;
    graphs += other.graphs;
    edited += other.edited;
    edits += other.edits;
    problems += other.problems;
    seconds += other.seconds;
  }
};

uint64_t seed_of(const Options& o, std::string_view pass, int64_t i) {
  uint64_t hash = o.seed * 1000003;
  for (const char c : pass) hash = hash * 31 + static_cast<unsigned char>(c);
  return Random(hash ^ (static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15u)).next();
}

void try_one(const Options& o, const Drawn& drawn, const PassDef& pass, int64_t i, Count& count) {
  const std::string doing = fmt::format("the pass {}, on graph {} of seed {},", drawn.pass, i, o.seed),
                    remedy =
                        fmt::format("`pass_fuzz --passes {} --seed {} --first {} --graphs 1` repeats it.",
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
  if (count.problems++ >= o.most_printed) return;
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

/// Whether a counterexample of every pass that is wrong on purpose is found.
int run_planted(Options o) {
  bool good = true;
  for (const Planted& planted : planted_passes()) {
    const std::string name(planted.pass.name);
    o.most_printed = 0;
    const Count count = fuzz(o, {name.c_str(), planted.draw}, planted.pass);
    std::printf("%s: %lld edits, %lld counterexamples\n", name.c_str(), static_cast<long long>(count.edits),
                static_cast<long long>(count.problems));
    good = good && count.problems > 0;
  }
  return good ? 0 : 1;
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
    Count count;
    for (Options of_seed = o; of_seed.seed < o.seed + o.seeds; ++of_seed.seed)
      count.add(fuzz(of_seed, *drawn, *pass));
    row(drawn->pass, count);
    if (count.drawn >= kGraphsOfAnEdit && count.edited * kGraphsOfAnEdit < count.drawn) {
      std::printf("%s edits %lld of %lld graphs: draw others\n", drawn->pass,
                  static_cast<long long>(count.edited), static_cast<long long>(count.drawn));
      good = false;
    }
    good = good && count.problems == 0;
    all.add(count);
  }
  row("all", all);
  return good ? 0 : 1;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--table" || name == "--planted") {
      (name == "--table" ? o.table : o.planted) = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    if (value == nullptr) break;
    if (name == "--passes") o.passes = value;
    if (name == "--graphs") o.graphs = std::atoll(value);
    if (name == "--first") o.first = std::atoll(value);
    if (name == "--seconds") o.seconds = std::atof(value);
    if (name == "--seed") o.seed = static_cast<uint64_t>(std::atoll(value));
    if (name == "--seeds") o.seeds = static_cast<uint64_t>(std::atoll(value));
  }
  return o;
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) {
  assay::report_crashes();
  try {
    const assay::fuzz::Options options = assay::fuzz::parse(argc, argv);
    return options.planted ? assay::fuzz::run_planted(options) : assay::fuzz::run(options);
  } catch (const assay::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
