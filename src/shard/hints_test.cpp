#include "shard/hints.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "base/log.h"

namespace assay::hints_test {
namespace {

ShardHints example() {
  ShardHints h;
  h.attention_layers = {
      {"q", false, false, FusedAttention{true, Permutation{0, 2, 1}, std::nullopt, Permutation{}, 4}},
      {"r", true, true, std::nullopt}};
  h.dist_collectives = {.group_size = 2, .root = 0, .nb_rank = 4, .reduce_op = "avg", .groups = {1, 3}};
  h.inputs = {{"x", 1, 3}, {"m", 0, std::nullopt}};
  h.outputs = {{"y", 1, 3}};
  h.k_seq_len_idx = 2;
  h.kv_rank = 4;
  return h;
}

std::string refusal(const std::string& text) {
  try {
    parse_hints(text, "h.json");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Hints, WhatIsWrittenIsRead) {
  const std::string text = hints_text(example());
  EXPECT_EQ(hints_text(parse_hints(text, "h.json")), text);
  const ShardHints read = parse_hints(text, "h.json");
  EXPECT_EQ(read.attention_layers[0].replace->q_shuffle, (Permutation{0, 2, 1}));
  EXPECT_FALSE(read.attention_layers[0].replace->k_shuffle.has_value());
  EXPECT_EQ(read.dist_collectives.ranks(), 2);
  EXPECT_EQ(read.inputs[1].rank, std::nullopt);
}

TEST(Hints, KeysInAnyOrderAndOthersAmongThem) {
  const ShardHints h = parse_hints(
      R"({"later": {"a": [1]}, "outputs": [], "inputs": [{"rank": null, "seq_len_idx": 2, "name": "x"}], "kv_rank": null,
          "v_seq_len_idx": 1, "k_seq_len_idx": 0, "attention_layers": [], "dist_collectives": {"nb_rank": null}, "parallelism": "TP"})",
      "h.json");
  EXPECT_EQ(h.parallelism, Parallelism::kTensor);
  EXPECT_EQ(h.inputs.at(0).seq_len_idx, 2);
  EXPECT_EQ(h.dist_collectives.nb_rank, 1);
}

TEST(Hints, TheFormOfOlderReleases) {
  const log::Capture capture;
  const ShardHints h = parse_hints(
      R"({"parallelism": "CP", "group_size": 2, "root": 0, "groups": [1], "attention_layers": [], "inputs": [], "outputs": [],
          "k_seq_len_idx": 0, "v_seq_len_idx": 0, "kv_rank": null, "reduce_scatter_reduce_op": "sum"})",
      "h.json");
  EXPECT_EQ(h.dist_collectives.group_size, 2);
  EXPECT_EQ(h.dist_collectives.reduce_op, "sum");
  EXPECT_NE(capture.out().find("0.49"), std::string::npos);
}

TEST(Hints, EveryFieldIsNeeded) {
  const std::string text = hints_text(example());
  for (const char* key :
       {"parallelism", "attention_layers", "dist_collectives", "inputs", "outputs", "k_seq_len_idx",
        "v_seq_len_idx", "kv_rank", "q", "gather_kv", "gather_q", "is_causal", "name", "seq_len_idx"}) {
    std::string changed = text;
    const std::string quoted = std::string("\"") + key + "\":";
    for (size_t at = 0; (at = changed.find(quoted, at)) != std::string::npos; at += 3)
      changed.replace(at, 1, "\"other_");
    EXPECT_NE(refusal(changed).find(std::string("has no field '") + key + "'"), std::string::npos)
        << key << refusal(changed);
  }
}

TEST(Hints, ShufflesArePermutations) {
  std::string text = hints_text(example());
  text.replace(text.find("2,", text.find("q_shuffle")), 1, "1");
  EXPECT_NE(refusal(text).find("q_shuffle is no permutation of the dimensions 0 to 2"), std::string::npos)
      << refusal(text);
}

}  // namespace
}  // namespace assay::hints_test
