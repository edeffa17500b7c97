#include "generate/interface.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::generate::interface_test {
namespace {

Dim sym(const std::string& name) { return Dim::symbol(name); }
TensorInfo ints(const std::string& name, Dims dims) {
  return {name, Type::tensor(DType::kInt64, std::move(dims))};
}
TensorInfo floats(const std::string& name, Dims dims) {
  return {name, Type::tensor(DType::kFloat32, std::move(dims))};
}

/// The inputs and outputs that exporters of Hugging Face's models write.
struct Usual {
  std::vector<TensorInfo> inputs = {ints("input_ids", {sym("batch"), sym("tokens")}),
                                    ints("attention_mask", {sym("batch"), sym("total")}),
                                    ints("position_ids", {sym("batch"), sym("tokens")})};
  std::vector<TensorInfo> outputs = {floats("logits", {sym("batch"), sym("tokens"), 97})};

  explicit Usual(int layers) {
    for (int i = 0; i < layers; ++i)
      for (const char* kind : {"key", "value"}) {
        inputs.push_back(
            floats("past_key_values." + std::to_string(i) + "." + kind, {sym("batch"), 2, sym("past"), 16}));
        outputs.push_back(
            floats("present." + std::to_string(i) + "." + kind, {sym("batch"), 2, sym("all"), 16}));
      }
  }
};

std::string refusal(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs,
                    const InterfaceNames& names = {}) {
  try {
    find_interface(inputs, outputs, names);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    return e.what();
  }
  return "nothing";
}

void expect_refusal(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(FindInterface, UsualNames) {
  const Usual m(2);
  const Interface f = find_interface(m.inputs, m.outputs);
  EXPECT_EQ(f.tokens, 0U);
  EXPECT_EQ(f.mask, 1U);
  EXPECT_EQ(f.positions, 2U);
  EXPECT_EQ(f.logits, 0U);
  EXPECT_EQ(f.vocabulary, 97);
  EXPECT_FALSE(f.use_cache || f.segments || f.step_tokens);
  ASSERT_EQ(f.caches.size(), 4U);
  EXPECT_EQ(f.caches[3].input, 6U);
  EXPECT_EQ(f.caches[3].output, 4U);
  EXPECT_EQ(f.caches[3].empty, (Shape{1, 2, 0, 16}));
  EXPECT_EQ(f.caches[3].axis, 2U);
}

TEST(FindInterface, CacheOfAnOpenBatchOfAnotherName) {
  Usual m(1);
  for (TensorInfo& i : m.inputs)
    if (i.name.starts_with("past")) (*i.type.dims)[0] = Dim();
  EXPECT_EQ(find_interface(m.inputs, m.outputs).caches[0].axis, 2U);
}

TEST(FindInterface, StackedKeysAndValues) {
  const auto dims = [](const char* length) { return Dims{2, sym("batch"), 2, sym(length), 16}; };
  const std::vector<TensorInfo> inputs = {ints("input_ids", {sym("batch"), sym("tokens")}),
                                          floats("past_0", dims("past"))};
  const std::vector<TensorInfo> outputs = {floats("present_0", dims("all")),
                                           floats("logits", {sym("batch"), sym("tokens"), 97})};
  const Interface f = find_interface(inputs, outputs);
  EXPECT_EQ(f.caches.at(0).axis, 3U);
  EXPECT_EQ(f.caches[0].empty, (Shape{2, 1, 2, 0, 16}));
  EXPECT_EQ(f.logits, 1U);
}

TEST(FindInterface, NoCacheAndNoNames) {
  const Interface f = find_interface({ints("x", {1, sym("n")})}, {floats("y", {1, sym("n"), Dim()})});
  EXPECT_FALSE(f.has_cache() || f.vocabulary);
}

TEST(FindInterface, CachesByTheirShapes) {
  const std::vector<TensorInfo> inputs = {ints("input_ids", {1, sym("n")}), floats("k", {1, 2, sym("p"), 8}),
                                          floats("v", {1, 2, sym("p"), 4})};
  const std::vector<TensorInfo> outputs = {floats("logits", {1, sym("n"), 97}),
                                           floats("k2", {1, 2, sym("q"), 8}),
                                           floats("v2", {1, 2, sym("q"), 4})};
  const Interface f = find_interface(inputs, outputs);
  ASSERT_EQ(f.caches.size(), 2U);
  EXPECT_EQ(f.caches[1].output, 2U);
  std::vector<TensorInfo> swapped = {outputs[0], outputs[2], outputs[1]};
  expect_refusal(refusal(inputs, swapped), "nothing is known to feed the inputs k, v with");
}

TEST(FindInterface, MappedNames) {
  Usual m(1);
  m.inputs[0].name = "a", m.inputs[1].name = "b", m.inputs[2].name = "c";
  m.inputs[3].name = "d", m.outputs[1].name = "e", m.inputs[4].name = "f", m.outputs[2].name = "g";
  m.outputs[0].name = "h";
  expect_refusal(refusal(m.inputs, m.outputs), "any of the inputs a, b, c may be the tokens");
  const InterfaceNames names =
      parse_interface_names({"tokens=a", "mask=b", "positions=c", "logits=h", "cache=d:e", "cache=f:g"});
  const Interface f = find_interface(m.inputs, m.outputs, names);
  EXPECT_EQ(f.mask, 1U);
  EXPECT_EQ(f.caches.at(1).output, 2U);
  expect_refusal(refusal(m.inputs, m.outputs, parse_interface_names({"tokens=z"})), "has no input 'z'");
  expect_refusal(refusal(m.inputs, m.outputs, parse_interface_names({"cache=d:z"})), "has no output 'z'");
}

TEST(FindInterface, WordsOfAMapping) {
  for (const auto& [word, part] : std::vector<std::pair<std::string, std::string>>{
           {"tokens", "maps nothing"}, {"ids=x", "no role 'ids'"}, {"cache=x", "not cache=INPUT:OUTPUT"}}) {
    try {
      parse_interface_names({word});
      ADD_FAILURE() << word;
    } catch (const Error& e) {
      expect_refusal(e.what(), part);
    }
  }
}

TEST(FindInterface, WhatIsNoGenerator) {
  expect_refusal(refusal({floats("image", {1, 3, 8, 8})}, {floats("logits", {1, 10})}), "takes no tokens");
  const Usual m(1);
  std::vector<TensorInfo> more = m.inputs;
  more.push_back(floats("encoder_hidden_states", {1, sym("n"), 16}));
  expect_refusal(refusal(more, m.outputs), "feed the input encoder_hidden_states with");
  std::vector<TensorInfo> fewer = {m.outputs[0], m.outputs[1]};
  expect_refusal(refusal(m.inputs, fewer),
                 "'past_key_values.0.value' is fed from no output: looked for present.0.value");
  std::vector<TensorInfo> none = {m.outputs[1], m.outputs[2]};
  expect_refusal(refusal(m.inputs, none), "no output logits");
}

TEST(FindInterface, FixedExtents) {
  Usual m(1);
  for (TensorInfo& i : m.inputs)
    if (i.name.starts_with("past")) (*i.type.dims)[2] = Dim(128);
  expect_refusal(refusal(m.inputs, m.outputs), "of one length only");
  Usual batch(1);
  (*batch.inputs[0].type.dims)[0] = Dim(4);
  expect_refusal(refusal(batch.inputs, batch.outputs), "batches of 4");
  expect_refusal(refusal({ints("input_ids", {1, 64})}, {floats("logits", {1, 64, 97})}), "exactly 64 tokens");
  Usual step(1);
  (*step.inputs[0].type.dims)[1] = Dim(1);
  EXPECT_EQ(find_interface(step.inputs, step.outputs).step_tokens, 1);
}

}  // namespace
}  // namespace assay::generate::interface_test
