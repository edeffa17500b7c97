// The attention operators of com.microsoft: against each other, against the standard's Attention, and on
// masks that a reader can follow.
#include <algorithm>
#include <cmath>

#include "ops/contrib/contrib_test_util.h"

namespace assay::attention_test {
namespace {

constexpr int64_t kHeads = 2;

Tensor ints(Shape shape, const std::vector<int32_t>& v) { return Tensor::from<int32_t>(std::move(shape), v); }

TEST(MultiHeadAttention, IsTheStandardsAttention) {
  const Tensor q = random_tensor({2, 3, 8}, 1), k = random_tensor({2, 5, 8}, 2),
               v = random_tensor({2, 5, 6}, 3);
  const AttributeList standard = {{"q_num_heads", kHeads}, {"kv_num_heads", kHeads}};
  expect_near(run_ms("MultiHeadAttention", {q, k, v}, {{"num_heads", kHeads}}),
              run_op("Attention", 24, {q, k, v}, standard)[0], 1e-12);
  // A bias of scores, with past keys.
  const Tensor past_k = random_tensor({2, kHeads, 4, 4}, 4), past_v = random_tensor({2, kHeads, 4, 3}, 5),
               bias = random_tensor({1, kHeads, 3, 9}, 6);
  const std::vector<Tensor> got = run_op("MultiHeadAttention", 1, {q, k, v, {}, {}, bias, past_k, past_v},
                                         {{"num_heads", kHeads}}, 3, kMsDomain);
  const std::vector<Tensor> wanted = run_op("Attention", 24, {q, k, v, bias, past_k, past_v}, standard, 3);
  for (size_t i = 0; i < 3; ++i) expect_near(got[i], wanted[i], 1e-12);
}

TEST(MultiHeadAttention, ReadsPackedForms) {
  const Tensor all = random_tensor({2, 3, kHeads, 3, 4}, 1);
  const auto part = [&](int64_t i) { return slice(all, 3, i, i + 1).reshaped({2, 3, kHeads * 4}); };
  const Tensor wanted = run_ms("MultiHeadAttention", {part(0), part(1), part(2)}, {{"num_heads", kHeads}});
  expect_near(run_ms("MultiHeadAttention", {all}, {{"num_heads", kHeads}}), wanted, 1e-12);
  expect_near(run_ms("MultiHeadAttention", {part(0), slice(all, 3, 1, 3)}, {{"num_heads", kHeads}}), wanted,
              1e-12);
  const auto by_head = [&](int64_t i) {
    return transposed(part(i).reshaped({2, 3, kHeads, 4}), {0, 2, 1, 3});
  };
  expect_near(run_ms("MultiHeadAttention", {part(0), by_head(1), by_head(2)}, {{"num_heads", kHeads}}),
              wanted, 1e-12);
}

/// The probabilities of one head of one query over identical keys: values are unit vectors.
Values attention_to(std::vector<Tensor> rest, int64_t keys, AttributeList attributes = {}) {
  Tensor v = Tensor::zeros(DType::kFloat64, {1, keys, keys});
  for (int64_t i = 0; i < keys; ++i) v.mutable_data<double>()[i * keys + i] = 1;
  std::vector<Tensor> inputs = {
      Tensor::zeros(DType::kFloat64, {1, 1, 2}), Tensor::zeros(DType::kFloat64, {1, keys, 2}), v, {}};
  inputs.insert(inputs.end(), rest.begin(), rest.end());
  attributes.push_back({"num_heads", int64_t{1}});
  return values(run_ms("MultiHeadAttention", inputs, attributes));
}

TEST(KeyMask, TakesLengthsEndsOrKeys) {
  EXPECT_EQ(attention_to({ints({1}, {2})}, 4), (Values{0.5, 0.5, 0, 0}));
  EXPECT_EQ(attention_to({ints({2}, {3, 1})}, 4), (Values{0, 0.5, 0.5, 0}));
  EXPECT_EQ(attention_to({ints({1, 4}, {0, 1, 0, 1})}, 4), (Values{0, 0.5, 0, 0.5}));
  // Masked keys share the rest; the filter says how much they lose.
  EXPECT_EQ(attention_to({ints({1, 2}, {0, 0})}, 2), (Values{0.5, 0.5}));
  const Values soft = attention_to({ints({1, 2}, {1, 0})}, 2, {{"mask_filter_value", std::log(0.25F)}});
  EXPECT_NEAR(soft[0], 0.8, 1e-7);
  expect_error([] { attention_to({ints({3}, {1, 1, 1})}, 4); }, "3 elements for a batch of 1");
  expect_error([] { attention_to({ints({1, 3}, {1, 1, 1})}, 4); }, "does not go with");
}

TEST(DecoderMaskedMultiHeadAttention, WritesIntoTheBuffer) {
  const Tensor q = random_tensor({1, 1, 8}, 1), k = random_tensor({1, 1, 8}, 2),
               v = random_tensor({1, 1, 8}, 3);
  const Tensor past_k = random_tensor({1, kHeads, 6, 4}, 4), past_v = random_tensor({1, kHeads, 6, 4}, 5);
  const std::vector<Tensor> inputs = {q, k, v, {}, {}, past_k, past_v, Tensor::vector<int32_t>({2})};
  const AttributeList shared = {{"num_heads", kHeads}, {"past_present_share_buffer", int64_t{1}}};
  const std::vector<Tensor> got = run_op("DecoderMaskedMultiHeadAttention", 1, inputs, shared, 3, kMsDomain);
  const std::vector<Tensor> wanted =
      run_op("Attention", 24, {q, k, v, {}, slice(past_k, 2, 0, 2), slice(past_v, 2, 0, 2)},
             {{"q_num_heads", kHeads}, {"kv_num_heads", kHeads}}, 3);
  expect_near(got[0], wanted[0], 1e-12);
  expect_near(slice(got[1], 2, 0, 3), wanted[1], 0);
  expect_near(slice(got[1], 2, 3, 6), slice(past_k, 2, 3, 6), 0);
  std::vector<Tensor> full = inputs;
  full[7] = Tensor::vector<int32_t>({6});
  expect_error([&] { run_op("DecoderMaskedMultiHeadAttention", 1, full, shared, 3, kMsDomain); },
               "do not fit");
  full[7] = {};
  expect_error([&] { run_op("DecoderMaskedMultiHeadAttention", 1, full, shared, 3, kMsDomain); },
               "past_sequence_length");
}

TEST(Attention, ProjectsAndStacksThePast) {
  const Tensor x = random_tensor({2, 3, 5}, 1), w = random_tensor({5, 24}, 2), b = random_tensor({24}, 3),
               past = random_tensor({2, 2, kHeads, 4, 4}, 4);
  const std::vector<Tensor> got =
      run_op("Attention", 1, {x, w, b, {}, past}, {{"num_heads", kHeads}, {"unidirectional", int64_t{1}}}, 2,
             kMsDomain);
  const Tensor qkv = run_op("Add", 13, {run_op("MatMul", 13, {x, w})[0], b})[0];
  const auto cache = [&](int64_t i) { return slice(past, 0, i, i + 1).reshaped({2, kHeads, 4, 4}); };
  const std::vector<Tensor> wanted =
      run_op("Attention", 24,
             {slice(qkv, 2, 0, 8), slice(qkv, 2, 8, 16), slice(qkv, 2, 16, 24), {}, cache(0), cache(1)},
             {{"q_num_heads", kHeads}, {"kv_num_heads", kHeads}, {"is_causal", int64_t{1}}}, 3);
  expect_near(got[0], wanted[0], 1e-12);
  expect_near(slice(got[1], 0, 0, 1).reshaped(wanted[1].shape()), wanted[1], 1e-12);
  expect_near(slice(got[1], 0, 1, 2).reshaped(wanted[2].shape()), wanted[2], 1e-12);
  expect_ms_refused(
      "Attention",
      {{{x, w, b}, {{"num_heads", int64_t{0}}}, "must be positive"},
       {{x, w, b}, {{"num_heads", int64_t{3}}}, "do not divide"},
       {{x, w, b}, {{"num_heads", kHeads}, {"qkv_hidden_sizes", Ints{8, 8}}}, "qkv_hidden_sizes"},
       {{x, w, b}, {{"num_heads", kHeads}, {"do_rotary", int64_t{1}}}, "do_rotary"},
       {{x, random_tensor({4, 24}, 1), b}, {{"num_heads", kHeads}}, "4"}});
}

/// Four query heads share two key heads of 16 elements.
std::vector<Tensor> grouped(int64_t queries, std::vector<int32_t> lengths, int32_t total, int64_t past) {
  const auto batch = static_cast<int64_t>(lengths.size());
  return {random_tensor({batch, queries, 64}, 1),
          random_tensor({batch, queries, 32}, 2),
          random_tensor({batch, queries, 32}, 3),
          past > 0 ? random_tensor({batch, 2, past, 16}, 4) : Tensor(),
          past > 0 ? random_tensor({batch, 2, past, 16}, 5) : Tensor(),
          Tensor::vector(lengths),
          Tensor::vector<int32_t>({total})};
}
const AttributeList kGroups = {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};

AttributeList groups_with(std::string name, Attribute::Data value) {
  AttributeList out = kGroups;
  out.push_back({std::move(name), std::move(value)});
  return out;
}

TEST(GroupQueryAttention, IsTheStandardsCausalAttention) {
  const std::vector<Tensor> in = grouped(5, {4, 4}, 5, 0);
  const AttributeList standard = {
      {"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"is_causal", int64_t{1}}};
  const Tensor wanted = run_op("Attention", 24, {in[0], in[1], in[2]}, standard)[0];
  expect_near(run_ms("GroupQueryAttention", in, kGroups), wanted, 1e-12);
  // All in the query.
  Tensor packed = run_op("Concat", 13, {in[0], in[1], in[2]}, {{"axis", int64_t{2}}})[0];
  expect_near(run_ms("GroupQueryAttention", {packed, {}, {}, {}, {}, in[5], in[6]}, kGroups), wanted, 1e-12);
  AttributeList capped = standard;
  capped.push_back({"softcap", 0.5F});
  expect_near(run_ms("GroupQueryAttention", in, groups_with("softcap", 0.5F)),
              run_op("Attention", 24, {in[0], in[1], in[2]}, capped)[0], 1e-12);
}

TEST(GroupQueryAttention, SeesTheLastKeysOfAWindow) {
  const std::vector<Tensor> in = grouped(5, {4}, 5, 0);
  const std::vector<Tensor> got = run_op("GroupQueryAttention", 1, in,
                                         {{"num_heads", int64_t{4}},
                                          {"kv_num_heads", int64_t{2}},
                                          {"local_window_size", int64_t{2}},
                                          {"qk_output", int64_t{2}}},
                                         4, kMsDomain);
  const double* row = got[3].data<double>() + 3 * 5;
  EXPECT_EQ(row[1], 0);
  EXPECT_NEAR(row[2] + row[3], 1, 1e-12);
  EXPECT_EQ(row[4], 0);
}

TEST(GroupQueryAttention, GivesTheSinkItsShare) {
  const std::vector<Tensor> in = grouped(1, {0}, 1, 0);
  // One key: without a sink it gets everything, with one of the same score half.
  expect_near(slice(run_ms("GroupQueryAttention", in, kGroups), 2, 0, 16), slice(in[2], 2, 0, 16), 1e-12);
  double score = 0;
  for (int64_t i = 0; i < 16; ++i) score += in[0].data<double>()[i] * in[1].data<double>()[i] / 4;
  std::vector<Tensor> with_sink = in;
  with_sink.resize(12);
  with_sink[11] = Tensor::vector<double>({score, 0, 0, 0});
  Tensor half = slice(in[2], 2, 0, 16);
  for (double& x : half.mutable_span<double>()) x /= 2;
  expect_near(slice(run_ms("GroupQueryAttention", with_sink, kGroups), 2, 0, 16), half, 1e-12);
}

TEST(GroupQueryAttention, AppendsToSequencesOfDifferentLength) {
  const std::vector<Tensor> in = grouped(1, {4, 2}, 5, 6);
  const std::vector<Tensor> got = run_op("GroupQueryAttention", 1, in, kGroups, 3, kMsDomain);
  EXPECT_EQ(got[1].shape(), (Shape{2, 2, 6, 16}));
  const auto row = [](const Tensor& t, int64_t b, int64_t head, int64_t i) {
    return slice(slice(slice(t, 0, b, b + 1), 1, head, head + 1), 2, i, i + 1).reshaped({16});
  };
  const auto fresh = [&](int64_t b, int64_t head) {
    return slice(slice(in[1], 0, b, b + 1), 2, head * 16, head * 16 + 16).reshaped({16});
  };
  expect_near(row(got[1], 0, 1, 4), fresh(0, 1), 0);
  expect_near(row(got[1], 1, 0, 2), fresh(1, 0), 0);
  expect_near(row(got[1], 1, 0, 1), row(in[3], 1, 0, 1), 0);
  expect_near(row(got[1], 1, 0, 3), Tensor::zeros(DType::kFloat64, {16}), 0);
}

TEST(GroupQueryAttention, RefusesWhatDoesNotFit) {
  const std::vector<Tensor> in = grouped(1, {4, 2}, 5, 6);
  const auto with = [&](size_t i, Tensor t) {
    std::vector<Tensor> out = in;
    out[i] = std::move(t);
    return out;
  };
  expect_ms_refused("GroupQueryAttention",
                    {{in, {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{3}}}, "do not divide"},
                     {with(4, {}), kGroups, "together"},
                     {with(5, Tensor::vector<int32_t>({5, 2})), kGroups, "seqlens_k has 5"},
                     {with(5, Tensor::vector<int32_t>({4})), kGroups, "batch of 2"},
                     {with(3, random_tensor({2, 2, 3, 16}, 1)), kGroups, "not in the past"},
                     {with(2, random_tensor({2, 1, 64}, 1)), kGroups, "do not go with"},
                     {in, groups_with("do_rotary", int64_t{1}), "cos_cache"},
                     {in, groups_with("k_quant_type", std::string("PER_TENSOR")), "quantised cache"},
                     {in, groups_with("sliding_window_cache", int64_t{1}), "slides"}});
}

TEST(RotaryEmbedding, TurnsByTheAngleOfThePosition) {
  const Tensor x = Tensor::from<double>({1, 2, 4}, std::vector<double>{1, 2, 3, 4, 1, 2, 3, 4});
  const Tensor cosines = Tensor::from<double>({3, 2}, std::vector<double>{1, 1, 0, 1, -1, 1}),
               sines = Tensor::from<double>({3, 2}, std::vector<double>{0, 0, 1, 0, 0, 0});
  const Tensor first = Tensor::vector<int64_t>({1});
  EXPECT_EQ(values(run_ms("RotaryEmbedding", {x, first, cosines, sines})),
            (Values{-3, 2, 1, 4, -1, 2, -3, 4}));
  EXPECT_EQ(values(run_ms("RotaryEmbedding", {x, first, cosines, sines}, {{"interleaved", int64_t{1}}})),
            (Values{-2, 1, 3, 4, -1, -2, 3, 4}));
  expect_ms_refused(
      "RotaryEmbedding",
      {{{x, Tensor::vector<int64_t>({2}), cosines, sines}, {}, "position 3"},
       {{x, Tensor::from<int64_t>({2, 2}, Ints{0, 1, 0, 1}), cosines, sines}, {}, "position_ids has shape"}});
}

TEST(AttentionInference, KeepsSymbols) {
  const Dim b = named("b"), s = named("s"), p = named("p");
  const InferResult attention = infer_op("Attention", 1,
                                         {float_type({b, s, 6}), float_type({6, 24}), float_type({24}),
                                          InferInput::missing(), float_type({2, b, 2, p, 4})},
                                         {{"num_heads", kHeads}}, 2, kMsDomain);
  EXPECT_EQ(attention.types[0].str(), "float32[b, s, 8]");
  EXPECT_EQ(attention.types[1].str(), "float32[2, b, 2, p+s, 4]");
  EXPECT_EQ(
      infer_ms("MultiHeadAttention", {float_type({b, s, 8}), float_type({b, p, 8}), float_type({b, p, 6})},
               {{"num_heads", kHeads}}),
      "float32[b, s, 6]");
  EXPECT_EQ(infer_ms("GroupQueryAttention",
                     {float_type({b, s, 128}), InferInput::missing(), InferInput::missing(),
                      InferInput::missing(), InferInput::missing(), Type::tensor(DType::kInt32, Dims{b}),
                      Type::tensor(DType::kInt32, Dims{})},
                     kGroups),
            "float32[b, s, 64]");
}

}  // namespace
}  // namespace assay::attention_test
