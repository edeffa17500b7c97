// op_fuzz: feeds every operator wrong input and looks for anything but a result or an Error with a sentence:
// a crash, an error that blames our own code, another exception, memory or time without bound, a result that
// contradicts its inferred type.
//
//   op_fuzz [--rounds N] [--seed N] [--only PATTERN] [--jobs N] [--verbose] [CASES]
//
// Without CASES, random nodes of every version of every operator, made from the schemas. With it, the
// conformance cases in that folder, made wrong in a few places. N rounds for each; deterministic for a seed.
// Exit status 1 when something is found.
#include <fnmatch.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>

#include "base/isolated_jobs.h"
#include "base/memory_limit.h"
#include "base/parallel.h"
#include "fuzz/mutate.h"
#include "ops/infer.h"
#include "ops/op_list.h"
#include "reference/interpreter.h"
#include "reference/type_match.h"
#include "run/conformance_data.h"

namespace assay::fuzz {
namespace {

/// No tensor may be larger, so that nothing is computed for long.
constexpr int64_t kMemory = int64_t{32} << 20;
/// What the whole process may have on top, for everything that is no tensor.
constexpr int64_t kAddressSpace = int64_t{4} << 30;
constexpr double kSeconds = 5;

struct Options {
  int rounds = 40;
  uint64_t seed = 1;
  int jobs = 0;
  std::string only = "*", cases;
  bool verbose = false;
};

/// What rounds of one subject came to.
struct Tally {
  int accepted = 0, rejected = 0;
  std::string problem;  ///< the first one
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void run(const Case& c, ReferencePrecision precision) {
  std::vector<std::pair<const Value*, Tensor>> results;
  infer_shapes(*c.model);
  Interpreter interpreter(c.model, {.precision = precision});
  Symbols symbols;
  std::string wrong;
  interpreter.run(c.feed, [&](const Value& v, std::span<const Tensor> lanes) {
    if (precision != ReferencePrecision::kStored || !wrong.empty()) return;
    wrong = contradiction(v.type, lanes[0], symbols);
    if (!wrong.empty()) wrong = fmt::format("value '{}': {}", v.name(), wrong);
  });
  require(wrong.empty(), ErrorCode::kInternal, "{}", wrong);
}

/// Empty when all is well.
std::string judge(const Case& c, ReferencePrecision precision, Tally& tally) {
  const double start = cpu_seconds();
  try {
    run(c, precision);
    ++tally.accepted;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kInternal) return fmt::format("an internal error: {}", e.what());
    if (std::strlen(e.what()) < 8) return fmt::format("an error without a sentence: {}", e.what());
    ++tally.rejected;
  } catch (const std::exception& e) {
    return fmt::format("an exception that is no Error: {}", e.what());
  }
  const double seconds = cpu_seconds() - start;
  return seconds > kSeconds ? fmt::format("it took {:.1f} s", seconds) : "";
}

uint64_t seed_of(const Options& options, std::string_view name, int round) {
  uint64_t h = options.seed * 1000003 + static_cast<uint64_t>(round);
  for (const char c : name) h = h * 1099511628211u + static_cast<unsigned char>(c);
  return h;
}

Tally run_rounds(const Options& options, const std::string& name, const std::function<Case(Random&)>& make) {
  Tally tally;
  for (int round = 0; round < options.rounds && tally.problem.empty(); ++round) {
    Random random(seed_of(options, name, round));
    // Where a crash happened can be read from what was printed last.
    if (options.verbose) std::fprintf(stderr, "%s round %d\n", name.c_str(), round);
    const Case c = make(random);
    const auto precision = random.chance(50) ? ReferencePrecision::kFloat64 : ReferencePrecision::kStored;
    const std::string problem = judge(c, precision, tally);
    if (!problem.empty()) tally.problem = fmt::format("round {}: {}", round, problem);
  }
  return tally;
}

/// Something to feed, by name.
struct Subject {
  std::string name;
  std::function<Case(Random&)> make;
};

std::vector<Subject> schema_subjects() {
  std::vector<Subject> list;
  for (const OpDef* op : all_ops())
    for (const OpVersion& v : op->versions)
      list.push_back({fmt::format("{}{}{}-{}", op->domain, op->domain.empty() ? "" : ".", op->name, v.since),
                      [op, &v](Random& r) { return random_case(*op, v, r); }});
  return list;
}

std::vector<Subject> case_subjects(const std::string& root) {
  std::vector<Subject> list;
  for (const std::string& folder : conformance_cases(root)) {
    if (folder.find("/light/") != std::string::npos) continue;  // nothing to gain from large models
    const std::string name = std::filesystem::path(folder).filename().string();
    list.push_back({name, [folder](Random& r) {
                      Case c = load_case(folder);
                      for (size_t n = 1 + r.below(3); n > 0; --n) mutate(c, r);
                      if (r.chance(60)) forget_types(c, r.chance(25));
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
  int accepted = 0, rejected = 0, problems = 0;
  const auto work = [&](size_t i) {
    limit_memory();
    set_thread_count(1);
    const Tally t = run_rounds(options, subjects[i].name, subjects[i].make);
    return fmt::format("{} {} {}", t.accepted, t.rejected, t.problem);
  };
  const auto done = [&](const IsolatedJobResult& r) {
    int a = 0, b = 0, used = 0;
    std::sscanf(r.text.c_str(), "%d %d %n", &a, &b, &used);
    accepted += a;
    rejected += b;
    const std::string problem =
        r.death.empty() ? r.text.substr(static_cast<size_t>(used)) : "the process " + r.death;
    if (problem.empty()) return;
    ++problems;
    std::printf("%s: %s\n", subjects[r.job].name.c_str(), problem.c_str());
  };
  run_isolated(subjects.size(),
               {.workers = options.jobs > 0 ? options.jobs : thread_count(), .timeout_seconds = 300}, work,
               done);
  std::printf("%zu subjects, %d rounds each: %d nodes accepted, %d refused, %d problems\n", subjects.size(),
              options.rounds, accepted, rejected, problems);
  return problems == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) {
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
    else if (word == "--verbose")
      options.verbose = true;
    else
      options.cases = word;
  }
  return assay::fuzz::fuzz(options);
}
