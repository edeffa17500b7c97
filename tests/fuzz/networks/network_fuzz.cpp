// network_fuzz: random networks of a few nodes on the engine against the reference. Extents are 0, 1, primes
// and others that fit no block; layouts of neighbours, tactics and numbers of threads are drawn, too; among
// the numbers are infinities, NaN, denormals.
//
//   network_fuzz [--rounds N] [--seed N] [--first N] [--jobs N] [--save FOLDER] [--table] [--verbose]
//
// Each round is a network and three engines. What fails is made smaller: fewer nodes, as long as it fails;
// with --save it is written, with what was fed (load it with assay run --load-inputs). --table says how often
// every tactic ran. Exit status 1 when there is a problem.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "assay/io.h"
#include "base/cpus.h"
#include "base/isolated_jobs.h"
#include "base/memory_limit.h"
#include "fuzz/networks/engine_trial.h"
#include "fuzz/networks/growing_network.h"
#include "graph/to_text.h"
#include "run/results.h"

namespace assay::fuzz {
namespace {

constexpr int64_t kMemory = int64_t{512} << 20;
constexpr int kEngines = 3;
/// Rounds that one child process takes, so that a crash costs few.
constexpr int kRoundsOfJob = 25;

struct Options {
  int rounds = 100, first = 0, jobs = 0;
  uint64_t seed = 1;
  std::string save;
  bool table = false, verbose = false;
};

struct Drawn {
  std::shared_ptr<Model> model;
  std::vector<Tensor> feed;
  int nodes = 0, refused = 0;  ///< pieces; those whose node broke a rule
};

uint64_t seed_of(const Options& o, int round, int what) {
  return Random((o.seed * 1000003 + static_cast<uint64_t>(round)) * 1009 + static_cast<uint64_t>(what))
      .next();
}

/// The first `pieces` of the round's network; all of them: 0.
Drawn draw(const Options& o, int round, int most) {
  Random r(seed_of(o, round, 0));
  const FedNumbers numbers =
      r.one_of({FedNumbers::kPlain, FedNumbers::kPlain, FedNumbers::kPlain, FedNumbers::kSpecial,
                FedNumbers::kSpecial, FedNumbers::kDenormal, FedNumbers::kLarge, FedNumbers::kEqual});
  const int count = static_cast<int>(r.between(1, 11));
  GrowingNetwork g(numbers);
  g.r = Random(seed_of(o, round, 1));
  for (int64_t n = g.r.between(1, 2); n > 0; --n) g.add_input();
  Drawn drawn;
  for (int i = 0; i < (most == 0 ? count : std::min(most, count)); ++i) {
    g.r = Random(seed_of(o, round, 100 + i));
    const Piece& piece = g.r.one_of(pieces());
    piece.add(g);
    ++drawn.nodes;
  }
  if (g.model->graph->nodes().empty()) g.hand_on(g.op("Relu", {g.pick()}));
  g.finish();
  drawn.model = g.model;
  drawn.feed = g.feed;
  return drawn;
}

Trial try_round(const Options& o, int round, int most, Drawn& drawn) {
  Trial all;
  drawn = draw(o, round, most);
  for (int k = 0; k < kEngines && all.problem.empty(); ++k) {
    Random r(seed_of(o, round, 1000 + k));
    Trial one = try_engine(drawn.model, drawn.feed, r);
    all.problem = one.problem;
    all.outputs += one.outputs;
    all.unclear += one.unclear;
    for (const auto& [name, count] : one.tactics) all.tactics[name] += count;
  }
  return all;
}

void save(const Options& o, int round, const Drawn& d) {
  if (o.save.empty()) return;
  const std::string base = fmt::format("{}/{}_{}", o.save, o.seed, round);
  save_model(*d.model, base + ".onnx");
  TensorList fed;
  for (size_t i = 0; i < d.feed.size(); ++i) fed.push_back({d.model->graph->inputs[i]->name(), d.feed[i]});
  save_inputs({fed}, base + ".json");
}

struct Sum {
  int networks = 0, nodes = 0, outputs = 0, unclear = 0, problems = 0;
  std::map<std::string, int> tactics;
};

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

/// A child's report on its rounds: lines "sum NODES OUTPUTS UNCLEAR", "tactic NAME COUNT", "problem TEXT".
std::string work(const Options& o, int from, int to) {
  set_memory_limit(kMemory);
  std::string text;
  for (int round = from; round < to; ++round) {
    if (o.verbose) std::fprintf(stderr, "round %d\n", round);
    Drawn drawn;
    Trial t;
    try {
      t = try_round(o, round, 0, drawn);
      for (int most = 1; !t.problem.empty() && most < drawn.nodes; ++most) {
        Drawn part;
        if (Trial small = try_round(o, round, most, part); !small.problem.empty()) {
          drawn = part;
          t.problem = small.problem;
          break;
        }
      }
    } catch (const std::exception& e) {
      t.problem = fmt::format("the generator fails: {}", e.what());
    }
    text += fmt::format("sum {} {} {}\n", drawn.nodes, t.outputs, t.unclear);
    for (const auto& [name, count] : t.tactics) text += fmt::format("tactic {} {}\n", name, count);
    if (t.problem.empty()) continue;
    if (drawn.model) save(o, round, drawn);
    text += fmt::format("problem round {}: {}\n", round, one_line(t.problem));
    if (drawn.model && o.verbose) std::fprintf(stderr, "%s\n", to_text(*drawn.model).c_str());
  }
  return text;
}

void add(Sum& sum, const std::string& text) {
  std::istringstream in(text);
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string word, name;
    words >> word;
    if (word == "sum") {
      int nodes = 0, outputs = 0, unclear = 0;
      words >> nodes >> outputs >> unclear;
      ++sum.networks, sum.nodes += nodes, sum.outputs += outputs, sum.unclear += unclear;
    } else if (word == "tactic") {
      int count = 0;
      words >> name >> count;
      sum.tactics[name] += count;
    } else {
      ++sum.problems;
      std::printf("%s\n", line.c_str());
    }
  }
}

int run(const Options& o) {
  Sum sum;
  const auto jobs = static_cast<size_t>((o.rounds + kRoundsOfJob - 1) / kRoundsOfJob);
  const auto first = [&](size_t job) { return o.first + static_cast<int>(job) * kRoundsOfJob; };
  run_isolated(
      jobs, {.workers = o.jobs > 0 ? o.jobs : available_cpus(), .timeout_seconds = 600},
      [&](size_t job) {
        return work(o, first(job), std::min(first(job) + kRoundsOfJob, o.first + o.rounds));
      },
      [&](const IsolatedJobResult& r) {
        if (!r.death.empty())
          add(sum, fmt::format("problem rounds {} to {}: the process {}\n", first(r.job),
                               first(r.job) + kRoundsOfJob - 1, r.death));
        else
          add(sum, r.text);
      });
  if (o.table)
    for (const auto& [name, count] : sum.tactics) std::printf("%8d %s\n", count, name.c_str());
  std::printf("%d networks of %d pieces on %d engines each: %d outputs judged, %d unclear, %d problems\n",
              sum.networks, sum.nodes, kEngines, sum.outputs, sum.unclear, sum.problems);
  return sum.problems == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) try {
  assay::fuzz::Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--rounds")
      o.rounds = std::atoi(value());
    else if (word == "--seed")
      o.seed = static_cast<uint64_t>(std::atoll(value()));
    else if (word == "--first")
      o.first = std::atoi(value());
    else if (word == "--jobs")
      o.jobs = std::atoi(value());
    else if (word == "--save")
      o.save = value();
    else if (word == "--table")
      o.table = true;
    else if (word == "--verbose")
      o.verbose = true;
    else {
      std::fprintf(stderr, "network_fuzz: what is %s?\n", argv[i]);
      return 2;
    }
  }
  return assay::fuzz::run(o);
} catch (const std::exception& e) {
  std::fprintf(stderr, "network_fuzz: %s\n", e.what());
  return 2;
}
