#include "eval/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "assay/error.h"

namespace assay::eval::evaluation_test {
namespace {

constexpr int64_t kSamples = 400;

Evaluation empty_evaluation() {
  Evaluation e{.identity = {.version = "1",
                            .model_name = "m.onnx",
                            .model_digest = "sha1:0",
                            .data = {{"kind", "arrays"}},
                            .options = {{"backends", "a b"}}},
               .samples = kSamples};
  e.worst = 5;
  e.judged_worst = 2;
  for (const auto& [name, kind, low] : {std::tuple{"sqnr", Kind::kMean, true},
                                        {"top1", Kind::kProportion, true},
                                        {"perplexity", Kind::kPerplexity, false}})
    e.rows.push_back({.metric = name,
                      .backend = "b",
                      .output = "y",
                      .kind = kind,
                      .low_is_worse = low,
                      .worst = Ranking(5, low)});
  return e;
}

/// Adds a sample, whose values depend on its number only.
void add_sample(Evaluation& e, int64_t sample) {
  std::mt19937_64 random(static_cast<uint64_t>(sample));
  const double x = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 100) - 120);
  e.covered.add(sample, sample + 1);
  e.content += random();
  if (sample % 37 == 0) {
    e.add_bad({sample, "bad " + std::to_string(sample)});
    return;
  }
  const double values[] = {sample % 41 == 0   ? std::nan("")
                           : sample % 43 == 0 ? INFINITY
                                              : -x,
                           sample % 3 == 0 ? 0.0 : 1.0, x};
  for (size_t r = 0; r < e.rows.size(); ++r) {
    e.rows[r].tally.add(values[r]);
    e.rows[r].worst.add(Ranked{sample, values[r]});
  }
}

/// A part as a shard makes it: its judged samples are those of its own rankings.
Evaluation part_of(const std::vector<int64_t>& samples) {
  Evaluation e = empty_evaluation();
  for (const int64_t s : samples) add_sample(e, s);
  const Ranges ranked = e.ranked(e.judged_worst);
  for (const Range& r : ranked.list())
    for (int64_t s = r.first; s < r.end; ++s)
      e.judged.push_back({.sample = s,
                          .backend = "b",
                          .verdict = s % 2 == 0 ? "WRONG" : "agrees",
                          .node = "n",
                          .op_type = "Conv",
                          .output = "y"});
  return e;
}

std::vector<int64_t> all_samples() {
  std::vector<int64_t> all(kSamples);
  for (int64_t i = 0; i < kSamples; ++i) all[static_cast<size_t>(i)] = i;
  return all;
}

TEST(Evaluation, PartsMergeToTheSameBytes) {
  const std::string whole = to_json(part_of(all_samples()));
  std::mt19937 random(7);
  for (int round = 0; round < 15; ++round) {
    std::vector<std::vector<int64_t>> parts(1 + random() % 9);
    std::vector<int64_t> samples = all_samples();
    std::shuffle(samples.begin(), samples.end(), random);
    for (const int64_t s : samples) parts[random() % parts.size()].push_back(s);
    // Merged as a tree of any form, through files.
    std::vector<Evaluation> results;
    for (const auto& part : parts) results.push_back(from_json(to_json(part_of(part)), "part"));
    while (results.size() > 1) {
      std::shuffle(results.begin(), results.end(), random);
      results[results.size() - 2].add(results.back());
      results.pop_back();
      results.back() = from_json(to_json(results.back()), "merged");
    }
    EXPECT_TRUE(results.front().is_complete());
    ASSERT_EQ(to_json(results.front()), whole);
  }
}

TEST(Evaluation, NamesTheFirstBadSamples) {
  Evaluation e = empty_evaluation();
  for (int64_t i = 300; i >= 0; --i) e.add_bad({i, "bad"});
  EXPECT_EQ(e.bad, 301);
  ASSERT_EQ(e.bad_samples.size(), Evaluation::kBadNamed);
  EXPECT_EQ(e.bad_samples.back().sample, static_cast<int64_t>(Evaluation::kBadNamed) - 1);
}

std::string refusal(const Evaluation& a, const Evaluation& b) {
  Evaluation sum = a;
  try {
    sum.add(b);
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(Evaluation, RefusesOthers) {
  const Evaluation a = part_of({1, 2, 3}), b = part_of({4, 5});
  EXPECT_EQ(refusal(a, b), "");
  EXPECT_NE(refusal(a, part_of({3, 4})).find("3:4"), std::string::npos);
  Evaluation other = b;
  other.identity.version = "2";
  EXPECT_NE(refusal(a, other).find("versions 1 and 2"), std::string::npos);
  other = b;
  other.identity.model_digest = "sha1:1";
  EXPECT_NE(refusal(a, other).find("models differ"), std::string::npos);
  other = b;
  other.identity.data = {{"kind", "folder"}};
  EXPECT_NE(refusal(a, other).find("kind is 'arrays' and 'folder'"), std::string::npos);
  other = b;
  other.identity.options.emplace_back("--fp16", "");
  EXPECT_NE(refusal(a, other).find("--fp16 is not given and ''"), std::string::npos);
  other = b;
  other.samples = kSamples + 1;
  EXPECT_NE(refusal(a, other).find("400 samples, and 401"), std::string::npos);
  other = b;
  other.rows.pop_back();
  EXPECT_NE(refusal(a, other).find("metrics differ"), std::string::npos);
}

TEST(Evaluation, EveryDamageIsFound) {
  const std::string text = to_json(part_of({0, 1, 2, 41, 43}));
  EXPECT_NO_THROW(from_json(text, "f"));
  for (size_t i = 0; i < text.size(); i += 7) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW(from_json(damaged, "f"), Error) << i;
    EXPECT_THROW(from_json(std::string_view(text).substr(0, i), "f"), Error) << i;
  }
  EXPECT_THROW(from_json(text + " ", "f"), Error);
  EXPECT_THROW(from_json("{}", "f"), Error);
}

TEST(Evaluation, NamesOfShards) {
  EXPECT_EQ(shard_path("a/b.json", {3, 8}), "a/b.3-of-8.json");
  EXPECT_EQ(shard_path("b", {0, 2}), "b.0-of-2");
}

}  // namespace
}  // namespace assay::eval::evaluation_test
