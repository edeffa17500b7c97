// A cluster's results without the cluster: synthetic workers give parts as evaluations do, and the real code
// merges them.
//
//   simulate FOLDER [WORKERS [SECONDS [SAMPLES_PER_SECOND]]]
//
// Writes a file for each worker to FOLDER, merges them in one step and in a tree of ten at a time, and prints
// bytes and times. Fails if the two differ, or if a sample is missing.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "eval/evaluation.h"

namespace {

using namespace assay::eval;  // NOLINT
using Clock = std::chrono::steady_clock;

constexpr int kBackends = 3, kWorst = 10, kFanIn = 10;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Evaluation empty_part(int64_t samples) {
  Evaluation e{.identity = {.version = "simulated",
                            .model_name = "model.onnx",
                            .model_digest = "sha1:0000000000000000000000000000000000000000",
                            .data = {{"kind", "arrays"}, {"name", "data.npz"}},
                            .options = {{"backends", "onnxrt engine trt"},
                                        {"metric", "top1 sqnr max-error agreement"}}},
               .samples = samples};
  e.worst = kWorst;
  for (int b = 0; b < kBackends; ++b)
    for (const auto& [metric, kind, low] : {std::tuple{"top1", Kind::kProportion, true},
                                            {"sqnr", Kind::kMean, true},
                                            {"max-error", Kind::kMean, false},
                                            {"agreement", Kind::kProportion, true}})
      e.rows.push_back({.metric = metric,
                        .backend = "backend" + std::to_string(b),
                        .output = "logits",
                        .kind = kind,
                        .low_is_worse = low,
                        .worst = Ranking(kWorst, low)});
  return e;
}

/// The part of one worker. What a sample gives depends on its number only.
Evaluation part_of(const Shard& shard, int64_t samples) {
  Evaluation e = empty_part(samples);
  const Range range = shard.of(samples).list().at(0);
  for (int64_t s = range.first; s < range.end; ++s) {
    std::minstd_rand random(static_cast<unsigned>(s + 1));
    for (Row& row : e.rows) {
      const double uniform = static_cast<double>(random()) / 2147483647.0;
      const double value = row.kind == Kind::kProportion ? (uniform < 0.9 ? 1 : 0) : 40 + 20 * uniform;
      row.tally.add(value);
      if (row.kind == Kind::kMean || value == 0) row.worst.add(Ranked{s, value});
    }
    e.content += static_cast<uint64_t>(s) * 0x9E3779B97F4A7C15;
  }
  e.covered.add(range.first, range.end);
  return e;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: simulate FOLDER [WORKERS [SECONDS [SAMPLES_PER_SECOND]]]\n"), 2;
  const std::filesystem::path folder = argv[1];
  const int64_t workers = argc > 2 ? std::atoll(argv[2]) : 1000;
  const int64_t samples = (argc > 3 ? std::atoll(argv[3]) : 10) * (argc > 4 ? std::atoll(argv[4]) : 10000);
  std::vector<std::string> paths;
  uint64_t bytes = 0;
  const Clock::time_point begin = Clock::now();
  for (int64_t i = 0; i < workers; ++i) {
    paths.push_back((folder / ("part" + std::to_string(i) + ".json")).string());
    save_evaluation(part_of({i, workers}, samples), paths.back());
    bytes += std::filesystem::file_size(paths.back());
  }
  std::printf("%lld workers, %lld samples: %.1f KB a part, %.1f MB in all, made in %.1f s\n",
              static_cast<long long>(workers), static_cast<long long>(samples),
              static_cast<double>(bytes) / 1e3 / static_cast<double>(workers),
              static_cast<double>(bytes) / 1e6, seconds_since(begin));
  const Clock::time_point start = Clock::now();
  const Evaluation flat = merge_files(paths);
  const double flat_seconds = seconds_since(start);
  std::printf("in one step: %.2f s, %.0f parts a second\n", flat_seconds,
              static_cast<double>(workers) / flat_seconds);
  // A tree: each level's merges could run side by side; the longest chain is one merge of each level.
  std::vector<std::string> texts;
  for (const std::string& path : paths) texts.push_back(to_json(load_evaluation(path)));
  int levels = 0;
  double longest = 0;
  uint64_t moved = bytes;
  for (; texts.size() > 1; ++levels) {
    std::vector<std::string> next;
    double level = 0;
    for (size_t at = 0; at < texts.size(); at += kFanIn) {
      const Clock::time_point one = Clock::now();
      Evaluation sum = from_json(texts[at], "part");
      for (size_t i = at + 1; i < std::min(texts.size(), at + kFanIn); ++i)
        sum.add(from_json(texts[i], "part"));
      next.push_back(to_json(sum));
      moved += next.back().size();
      level = std::max(level, seconds_since(one));
    }
    longest += level;
    texts = std::move(next);
  }
  std::printf("in a tree of %d at a time: %d levels, %.4f s on the longest way, %.1f MB moved\n", kFanIn,
              levels, longest, static_cast<double>(moved) / 1e6);
  const bool is_same = texts.front() == to_json(flat), is_complete = flat.is_complete();
  if (!is_same || !is_complete)
    return std::printf("FAILED: %s\n", is_same ? "samples are missing" : "other bytes"), 1;
  return 0;
}
