// op_fuzz: feeds every operator wrong input and looks for anything but a result or an Error with a sentence:
// a crash, an error that blames our own code, another exception, memory or time without bound, a result that
// contradicts its inferred type.
//
//   op_fuzz [--rounds N] [--seed N] [--only PATTERN] [--jobs N] [--verbose] [--save FOLDER] [--shard I/N]
//   [CASES]
//
// Without CASES, random nodes of every version of every operator, made from the schemas. With it, the
// conformance cases in that folder, made wrong in a few places. N rounds for each; deterministic for a seed.
// With --save, the models that show a problem are written. Exit status 1 when there is a problem. --shard
// takes every N-th subject, from the I-th on: the numbers of all shards add up to those of one process.
//
//   op_fuzz --against BACKEND [--rounds N | --round N] [--invalid] [--table] [--stale] [--reproduce] [...]
//
// compares the reference with another backend (onnxrt, engine) on random valid nodes (valid/recipes.def) of
// every version of every operator but the random ones. compare.h says when results are the same;
// explained.def lists what is not, and why. --round runs one round only; --table prints what became of every
// operator, --invalid makes one thing of every node wrong (spoil.h): both refuse it, the engine with the
// sentence of the reference, and what ONNX Runtime refuses the reference refuses; --stale the explanations
// that nothing needed (run many rounds); --reproduce runs nothing but the reproducers of explained.def, each
// of which must show its difference. Exit status 77 when the backend is not there.
#include <fnmatch.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <functional>

#include "assay/backend_set.h"
#include "base/cpus.h"
#include "base/isolated_jobs.h"
#include "base/memory_limit.h"
#include "eval/shard.h"
#include "fuzz/differential.h"
#include "fuzz/judge.h"
#include "fuzz/mutate.h"
#include "ops/op_set.h"
#include "run/conformance_data.h"

namespace assay::fuzz {
namespace {

/// No tensor may be larger, so that nothing is computed for long.
constexpr int64_t kMemory = int64_t{32} << 20;
/// The memory limit of a process.
constexpr int64_t kAddressSpace = int64_t{4} << 30;

struct Options {
  int rounds = 40;
  uint64_t seed = 1;
  int jobs = 0;
  std::string only = "*", cases, save;
  const Backend* against = nullptr;
  int round = -1;
  eval::Shard shard;
  bool verbose = false, table = false, stale = false, reproduce = false, invalid = false;
};

/// The outcome of one subject's rounds.
struct Tally {
  int accepted = 0, rejected = 0;
  std::string problem;  ///< the first one
};

uint64_t seed_of(const Options& options, std::string_view name, int round) {
  uint64_t h = options.seed * 1000003 + static_cast<uint64_t>(round);
  for (const char c : name) h = h * 1099511628211u + static_cast<unsigned char>(c);
  return h;
}

/// Something to feed, by name.
struct Subject {
  std::string name;
  std::function<Case(Random&)> make;
};

Tally run_rounds(const Options& options, const Subject& subject) {
  Tally tally;
  for (int round = 0; round < options.rounds && tally.problem.empty(); ++round) {
    Random random(seed_of(options, subject.name, round));
    // Where a crash happened can be read from what was printed last.
    if (options.verbose) std::fprintf(stderr, "%s round %d\n", subject.name.c_str(), round);
    Case c;
    try {
      c = subject.make(random);
    } catch (const Error&) {  // larger than what a tensor may have here
      ++tally.rejected;
      continue;
    }
    const bool ideal = random.chance(50);
    const Judgement j = judge(c, ideal ? ReferencePrecision::kFloat64 : ReferencePrecision::kStored);
    ++(j.accepted ? tally.accepted : tally.rejected);
    if (j.problem.empty()) continue;
    tally.problem = fmt::format("round {}: {}", round, j.problem);
    if (!options.save.empty()) save_case(c, fmt::format("{}/{}_{}.onnx", options.save, subject.name, round));
  }
  return tally;
}

std::vector<Subject> schema_subjects() {
  std::vector<Subject> list;
  for (const OpDef* op : built_in_ops().all())
    for (const OpVersion& v : op->versions)
      list.push_back({fmt::format("{}{}{}-{}", op->domain, op->domain.empty() ? "" : ".", op->name, v.since),
                      [op, &v](Random& r) { return random_case(*op, v, r); }});
  return list;
}

std::vector<Subject> case_subjects(const std::string& root) {
  std::vector<Subject> list;
  for (const std::string& folder : conformance_cases(root)) {
    if (folder.find("/light/") != std::string::npos) continue;  // nothing to gain from large models
    list.push_back({std::filesystem::path(folder).filename().string(), [folder](Random& r) {
                      Case c = load_case(folder);
                      for (size_t n = 1 + r.below(3); n > 0; --n) mutate(c, r);
                      const bool is_loop = has_loop(c);
                      if (is_loop) {  // one without a bound may turn for ever, and rightly
                        c.model = load_case(folder).model;
                        for (size_t i = 0; i < c.feed.size(); ++i)
                          if (!c.feed[i].is_container())
                            c.model->graph->inputs[i]->type = Type::tensor(c.feed[i].dtype());
                        tame_loops(c);
                      }
                      // While it runs, an empty sequence that a Loop carries does not know what it may hold.
                      forget_types(c, !is_loop && r.chance(15));
                      return c;
                    }});
  }
  return list;
}

void limit_memory() {
  set_memory_limit(kMemory);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit{kAddressSpace, kAddressSpace};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

int fuzz(const Options& options) {
  std::vector<Subject> subjects = options.cases.empty() ? schema_subjects() : case_subjects(options.cases);
  std::erase_if(subjects,
                [&](const Subject& s) { return fnmatch(options.only.c_str(), s.name.c_str(), 0) != 0; });
  std::vector<Subject> own;
  for (size_t i = 0; i < subjects.size(); ++i)
    if (static_cast<int64_t>(i) % options.shard.count == options.shard.index)
      own.push_back(std::move(subjects[i]));
  subjects = std::move(own);
  Tally all;
  int problems = 0;
  const auto work = [&](size_t i) {
    limit_memory();
    const Tally t = run_rounds(options, subjects[i]);
    return fmt::format("{} {} {}", t.accepted, t.rejected, t.problem);
  };
  const auto done = [&](const IsolatedJobResult& r) {
    Tally t;
    int used = 0;
    std::sscanf(r.text.c_str(), "%d %d %n", &t.accepted, &t.rejected, &used);
    all.accepted += t.accepted;
    all.rejected += t.rejected;
    t.problem = r.death.empty() ? r.text.substr(static_cast<size_t>(used)) : "the process " + r.death;
    if (t.problem.empty()) return;
    ++problems;
    std::printf("%s: %s\n", subjects[r.job].name.c_str(), t.problem.c_str());
  };
  run_isolated(subjects.size(),
               {.workers = options.jobs > 0 ? options.jobs : available_cpus(), .timeout_seconds = 600}, work,
               done);
  std::printf("%zu subjects, %d rounds each: %d nodes accepted, %d refused, %d problems\n", subjects.size(),
              options.rounds, all.accepted, all.rejected, problems);
  return problems == 0 ? 0 : 1;
}

int run(const Options& options) {
  if (options.against == nullptr) return fuzz(options);
  require(options.shard.count == 1, ErrorCode::kInvalidArgument, "--shard is not for --against: use --only");
  const DifferentialOptions differential{.rounds = options.round >= 0 ? 1 : options.rounds,
                                         .first_round = std::max(options.round, 0),
                                         .seed = options.seed,
                                         .jobs = options.jobs > 0 ? options.jobs : available_cpus(),
                                         .only = options.only,
                                         .save = options.save,
                                         .table = options.table,
                                         .verbose = options.verbose,
                                         .stale = options.stale,
                                         .invalid = options.invalid};
  if (const std::string missing = options.against->probe({}); !missing.empty()) {
    std::printf("%s\n", missing.c_str());
    return 77;
  }
  const int problems = options.reproduce ? run_reproducers(*options.against)
                                         : run_differential(differential, *options.against);
  return problems == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) try {
  assay::fuzz::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--rounds")
      options.rounds = std::atoi(value());
    else if (word == "--seed")
      options.seed = static_cast<uint64_t>(std::atoll(value()));
    else if (word == "--only")
      options.only = value();
    else if (word == "--jobs")
      options.jobs = std::atoi(value());
    else if (word == "--against")
      options.against = &assay::built_in_backends().get(value());
    else if (word == "--round")
      options.round = std::atoi(value());
    else if (word == "--table")
      options.table = true;
    else if (word == "--stale")
      options.stale = true;
    else if (word == "--invalid")
      options.invalid = true;
    else if (word == "--reproduce")
      options.reproduce = true;
    else if (word == "--shard")
      options.shard = assay::eval::parse_shard(value());
    else if (word == "--save")
      options.save = value();
    else if (word == "--verbose")
      options.verbose = true;
    else
      options.cases = word;
  }
  return assay::fuzz::run(options);
} catch (const std::exception& e) {
  std::fprintf(stderr, "op_fuzz: %s\n", e.what());
  return 2;
}
