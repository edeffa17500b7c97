#include "fuzz/differential.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "base/isolated_jobs.h"
#include "base/memory_limit.h"
#include "fuzz/explained.h"
#include "fuzz/judge.h"
#include "fuzz/spoil.h"
#include "fuzz/valid/draft.h"
#include "ops/op_set.h"

namespace assay::fuzz {
namespace {

constexpr int64_t kMemory = int64_t{32} << 20;
constexpr int kOutcomes = static_cast<int>(Outcome::kOtherWords) + 1;
/// Problems of one subject that are printed.
constexpr int kShown = 3;

struct Subject {
  std::string name;
  const OpDef* op;
  const OpVersion* version;
};

/// Something to report from a child: a line of text.
struct Finding {
  int round = 0;
  std::string entry;  ///< name of the explanation; empty: a problem
  std::string text;
};

struct Tally {
  std::array<int, kOutcomes> counts{};
  std::string refusal;  ///< the first by the other backend (or both), when it is not for lack of a kernel
  std::string missing;  ///< the first for lack of a kernel
  std::vector<Finding> findings;

  int operator[](Outcome o) const { return counts[static_cast<size_t>(o)]; }
  int compared() const {
    return (*this)[Outcome::kEqual] + (*this)[Outcome::kRounding] + (*this)[Outcome::kDifferent];
  }
};

std::vector<Subject> all_subjects(const std::string& only, bool contrib = false) {
  std::vector<Subject> list;
  for (const OpDef* op : built_in_ops().all()) {
    // Results of com.microsoft's operators are compared by tests/contrib; on drawn nodes that they refuse,
    // several kernels of ONNX Runtime crash.
    if (op->random || (op->domain == "com.microsoft" && !contrib)) continue;
    for (const OpVersion& v : op->versions) {
      std::string name =
          fmt::format("{}{}{}-{}", op->domain, op->domain.empty() ? "" : ".", op->name, v.since);
      if (fnmatch(only.c_str(), name.c_str(), 0) == 0) list.push_back({std::move(name), op, &v});
    }
  }
  return list;
}

Case case_of(const Subject& s, const DifferentialOptions& options, int round) {
  uint64_t h = options.seed * 1000003 + static_cast<uint64_t>(round);
  for (const char c : s.name) h = h * 1099511628211u + static_cast<unsigned char>(c);
  Random random(h);
  Case c = valid_case(*s.op, *s.version, random);
  if (options.invalid) spoil(c, random);
  return c;
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t' || c == '\033') c = ' ';
  return text;
}

/// Which round a child is in, readable after it has died.
class Progress {
 public:
  explicit Progress(size_t n)
      : rounds_(static_cast<int*>(
            mmap(nullptr, n * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    require(rounds_ != MAP_FAILED, ErrorCode::kIo, "no shared memory for {} numbers", n);
  }
  int& operator[](size_t i) { return rounds_[i]; }

 private:
  int* rounds_;
};

class Run {
 public:
  Run(const DifferentialOptions& options, const Backend& backend)
      : options_(options),
        backend_(backend),
        subjects_(all_subjects(options.only, options.invalid && backend.name == "engine")),
        tallies_(subjects_.size()),
        progress_(subjects_.size()) {
    for (size_t i = 0; i < subjects_.size(); ++i) progress_[i] = options.first_round;
  }

  int all();

 private:
  std::string rounds(size_t subject);
  void note(Tally& tally, const Subject& s, int round, const Case& c, const Comparison& seen) const;
  void merge(size_t subject, const std::string& text);
  void report_problems();
  void report_table() const;
  void report_stale() const;

  const DifferentialOptions& options_;
  const Backend& backend_;
  std::vector<Subject> subjects_;
  std::vector<Tally> tallies_;
  Progress progress_;
  std::map<size_t, std::set<int>> crashes_;  ///< rounds of a subject in which a child died
  std::map<std::string, int> uses_;
  int problems_ = 0;
};

void Run::note(Tally& tally, const Subject& s, int round, const Case& c, const Comparison& seen) const {
  ++tally.counts[static_cast<size_t>(seen.outcome)];
  if (seen.outcome == Outcome::kNoKernel && tally.missing.empty()) tally.missing = one_line(seen.text);
  if ((seen.outcome == Outcome::kOnlyReference || seen.outcome == Outcome::kRefused) && tally.refusal.empty())
    tally.refusal = fmt::format("round {}: {}", round, one_line(seen.text));
  // The engine runs whatever the reference runs.
  const bool must_run = backend_.name == "engine" &&
                        (seen.outcome == Outcome::kOnlyReference || seen.outcome == Outcome::kNoKernel);
  // Who refuses says the same, and what others refuse is looked at.
  const bool other_words = backend_.name == "engine" && seen.outcome == Outcome::kOtherWords;
  const bool only_theirs =
      options_.invalid && backend_.name != "engine" && seen.outcome == Outcome::kOnlyReference;
  // Numbers that are no data (NaN, say) have no results to be compared.
  const bool is_noise = options_.invalid && seen.outcome == Outcome::kDifferent;
  if ((!is_problem(seen.outcome) && !must_run && !other_words && !only_theirs) || is_noise) return;
  const Explained* entry = find_explained(c, seen, std::string(backend_.name), s.name);
  const char* prefix = must_run                              ? "the engine refuses: "
                       : only_theirs                         ? "the reference accepts: "
                       : seen.outcome == Outcome::kOnlyOther ? "only the reference refuses: "
                                                             : "";
  tally.findings.push_back(
      {round, entry ? entry->name : "", one_line(prefix + seen.text + " | " + describe(c))});
  if (!options_.save.empty()) save_case(c, fmt::format("{}/{}_{}.onnx", options_.save, s.name, round));
}

/// In a child: all rounds from where it stands; what came of them as text.
std::string Run::rounds(size_t subject) {
  set_memory_limit(kMemory);
  if (!options_.verbose)  // the backend's messages about refusals
    if (const int null = open("/dev/null", O_WRONLY); null >= 0) dup2(null, 2), close(null);
  const Subject& s = subjects_[subject];
  Tally tally;
  for (int& round = progress_[subject]; round < options_.first_round + options_.rounds; ++round) {
    if (crashes_[subject].contains(round)) continue;
    const Case c = case_of(s, options_, round);
    if (options_.verbose)
      std::fprintf(stderr, "%s round %d: %s\n", s.name.c_str(), round, describe(c).c_str());
    const Comparison seen = compare(c, backend_);
    if (options_.verbose)
      std::fprintf(stderr, "  outcome %d %s\n", static_cast<int>(seen.outcome), seen.text.c_str());
    note(tally, s, round, c, seen);
  }
  std::string text;
  for (const int n : tally.counts) text += fmt::format("{} ", n);
  text += "\n" + tally.refusal + "\n" + tally.missing + "\n";
  for (const Finding& f : tally.findings) text += fmt::format("{}\t{}\t{}\n", f.round, f.entry, f.text);
  return text;
}

void Run::merge(size_t subject, const std::string& text) {
  Tally& tally = tallies_[subject];
  if (text.starts_with("error: ")) {
    tally.findings.push_back({progress_[subject], "", "the generator fails: " + one_line(text)});
    return;
  }
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  std::istringstream numbers(line);
  for (int& n : tally.counts) {
    int more = 0;
    numbers >> more;
    n += more;
  }
  std::getline(in, tally.refusal);
  std::getline(in, tally.missing);
  while (std::getline(in, line)) {
    const size_t a = line.find('\t'), b = line.find('\t', a + 1);
    if (b == std::string::npos) continue;
    tally.findings.push_back({std::stoi(line), line.substr(a + 1, b - a - 1), line.substr(b + 1)});
  }
}

int Run::all() {
  std::vector<size_t> open(subjects_.size());
  for (size_t i = 0; i < open.size(); ++i) open[i] = i;
  // Where a child died, all rounds of its subject but the one are run again.
  while (!open.empty()) {
    std::vector<size_t> again;
    run_isolated(
        open.size(), {.workers = options_.jobs, .timeout_seconds = 600},
        [&](size_t i) { return rounds(open[i]); },
        [&](const IsolatedJobResult& r) {
          const size_t subject = open[r.job];
          if (r.death.empty()) return merge(subject, r.text);
          const int round = progress_[subject];
          crashes_[subject].insert(round);
          note(tallies_[subject], subjects_[subject], round, case_of(subjects_[subject], options_, round),
               {Outcome::kCrashed, "the process " + r.death});
          progress_[subject] = options_.first_round;
          again.push_back(subject);
        });
    open = std::move(again);
  }
  report_problems();
  if (options_.table) report_table();
  if (options_.stale) report_stale();
  return problems_;
}

void Run::report_problems() {
  for (size_t i = 0; i < subjects_.size(); ++i) {
    int shown = 0;
    for (const Finding& f : tallies_[i].findings) {
      if (!f.entry.empty()) {
        if (uses_[f.entry]++ == 0)
          std::printf("explained by %s: %s round %d\n", f.entry.c_str(), subjects_[i].name.c_str(), f.round);
        continue;
      }
      ++problems_;
      if (shown++ < kShown)
        std::printf("%s round %d: %s\n", subjects_[i].name.c_str(), f.round, f.text.c_str());
    }
    if (shown > kShown) std::printf("%s: %d more\n", subjects_[i].name.c_str(), shown - kShown);
  }
  Tally sum;
  int compared = 0, never = 0, explained = 0;
  for (const Tally& t : tallies_) {
    for (int o = 0; o < kOutcomes; ++o)
      sum.counts[static_cast<size_t>(o)] += t.counts[static_cast<size_t>(o)];
    compared += t.compared();
    never += t.compared() == 0;
  }
  for (const auto& [name, count] : uses_) explained += count;
  std::printf(
      "%zu subjects, %d rounds each: %d nodes compared (%d equal to the bit, %d within rounding, %d "
      "different, of which %d problems "
      "and %d explained with those below), %d that %s has no kernel for, %d that it refuses, %d that only "
      "the reference refuses, %d that "
      "both refuse, %d crashes; %d subjects never compared\n",
      subjects_.size(), options_.rounds, compared, sum[Outcome::kEqual], sum[Outcome::kRounding],
      sum[Outcome::kDifferent], problems_, explained, sum[Outcome::kNoKernel],
      std::string(backend_.name).c_str(), sum[Outcome::kOnlyReference], sum[Outcome::kOnlyOther],
      sum[Outcome::kRefused], sum[Outcome::kCrashed], never);
}

void Run::report_table() const {
  std::printf("%-44s %8s %8s %8s %8s %8s %8s %8s\n", "subject", "compared", "equal", "rounding", "differ",
              "kernel", "refused", "both");
  for (size_t i = 0; i < subjects_.size(); ++i) {
    const Tally& t = tallies_[i];
    std::printf("%-44s %8d %8d %8d %8d %8d %8d %8d", subjects_[i].name.c_str(), t.compared(),
                t[Outcome::kEqual], t[Outcome::kRounding], t[Outcome::kDifferent], t[Outcome::kNoKernel],
                t[Outcome::kOnlyReference], t[Outcome::kRefused]);
    if (t.compared() == 0) std::printf("  never compared: %s", t.missing.c_str());
    if (!t.refusal.empty()) std::printf("  refused: %s", t.refusal.c_str());
    std::printf("\n");
  }
}

void Run::report_stale() const {
  for (const Explained& e : explained()) {
    if (backend_.name != e.backend || uses_.contains(e.name)) continue;
    std::printf("no case needed the explanation %s\n", e.name);
  }
}

}  // namespace

int run_reproducers(const Backend& backend) {
  std::vector<const Explained*> entries;
  for (const Explained& e : explained())
    if (backend.name == e.backend) entries.push_back(&e);
  const auto subject_of = [&](size_t i) {
    const std::vector<Subject> subjects = all_subjects(entries[i]->subject);
    require(subjects.size() == 1, ErrorCode::kInvalidArgument, "{} names {} subjects", entries[i]->subject,
            subjects.size());
    return subjects[0];
  };
  const auto shown = [&](size_t i, const Comparison& seen) {
    const Subject subject = subject_of(i);
    const Case c = case_of(subject, {}, entries[i]->round);
    return find_explained(c, seen, std::string(backend.name), subject.name) == entries[i];
  };
  int failed = 0;
  run_isolated(
      entries.size(), {.workers = 1, .timeout_seconds = 60},
      [&](size_t i) {
        const Comparison seen = compare(case_of(subject_of(i), {}, entries[i]->round), backend);
        return shown(i, seen) ? std::string() : "it gives: " + one_line(seen.text);
      },
      [&](const IsolatedJobResult& r) {
        if (r.death.empty() ? r.text.empty() : shown(r.job, {Outcome::kCrashed, r.death})) return;
        ++failed;
        std::printf("%s: %s round %d does not show it; %s\n", entries[r.job]->name, entries[r.job]->subject,
                    entries[r.job]->round, (r.text + r.death).c_str());
      });
  std::printf("%zu reproducers, %d fail\n", entries.size(), failed);
  return failed;
}

int run_differential(const DifferentialOptions& options, const Backend& backend) {
  return Run(options, backend).all();
}

}  // namespace assay::fuzz
