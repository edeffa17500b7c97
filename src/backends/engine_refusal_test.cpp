// The engine refuses whatever the reference refuses, with the same sentence about the same node.
#include <gtest/gtest.h>

#include "assay/backend_set.h"
#include "base/memory_limit.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "reference/interpreter.h"

namespace assay::engine_refusal_test {
namespace {

std::shared_ptr<Model> network(const std::string& text, int opset) {
  auto model = parse_text(
      fmt::format(
          "<ir_version: 10, opset_import: [\"\" : {}, \"com.microsoft\" : 1, \"ai.onnx.ml\" : 3]> g {}",
          opset, text),
      "network");
  // Errors found by inference must be found at run time, too.
  infer_shapes(*model, {.on_problem = [](const Node&, const std::string&) {}});
  return model;
}

struct Refusal {
  std::string message, whole;
};

template <typename Body>
Refusal refusal_of(Body body) {
  try {
    body();
  } catch (const Error& e) {
    return {e.message(), e.what()};
  }
  return {"nothing is refused", ""};
}

/// Sentences about memory name the amount in use.
std::string without_amounts(std::string text) {
  if (text.find("bytes that there are") != std::string::npos)
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

/// Both refuse these inputs, with this in the sentence.
void expect_refused(const std::string& text, const std::vector<Tensor>& feed, const std::string& sentence,
                    int opset = 20) {
  SCOPED_TRACE(text);
  const std::shared_ptr<Model> model = network(text, opset);
  const Refusal reference = refusal_of([&] {
    Interpreter(model, {.precision = ReferencePrecision::kStored})
        .run(feed, [](const Value&, std::span<const Tensor>) {});
  });
  EXPECT_NE(reference.message.find(sentence), std::string::npos) << reference.message;
  const Refusal engine = refusal_of([&] {
    built_in_backends().get("engine").open({model, {}}, {})->run(feed, [](size_t, const Tensor&) {});
  });
  EXPECT_EQ(without_amounts(engine.message), without_amounts(reference.message));
  EXPECT_NE(engine.whole.find("at node"), std::string::npos) << engine.whole;
}

Tensor floats(const Shape& shape) {
  Tensor t = Tensor::zeros(DType::kFloat32, shape);
  for (int64_t i = 0; i < t.numel(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i % 7) / 4;
  return t;
}
Tensor longs(const Shape& shape, const std::vector<int64_t>& values) {
  return Tensor::from<int64_t>(shape, values);
}
Tensor ints(const Shape& shape, const std::vector<int32_t>& values) {
  return Tensor::from<int32_t>(shape, values);
}

TEST(EngineRefusal, PositionsDoNotCountFromTheEnd) {
  const std::string rotary =
      "(float[1,2,8] x, int64[1,2] p, float[4,2] c) => (float[1,2,8] y) { y = RotaryEmbedding <num_heads = "
      "2> "
      "(x, c, c, p) }";
  for (const std::vector<int64_t>& positions :
       {std::vector<int64_t>{-1, 0}, {0, 4}, {INT64_MIN, 0}, {INT64_MAX, 0}, {-5, 0}})
    expect_refused(rotary, {floats({1, 2, 8}), longs({1, 2}, positions), floats({4, 2})},
                   "is outside the 4 positions", 23);
  expect_refused(
      "(float[1,2,8] x, int64[1,2] p, float[4,2] c) => (float[1,2,8] y) { y = com.microsoft.RotaryEmbedding "
      "<num_heads = 2> (x, p, c, c) }",
      {floats({1, 2, 8}), longs({1, 2}, {0, -1}), floats({4, 2})}, "position");
}

TEST(EngineRefusal, IdsOfEmbeddingsDoNotCountFromTheEnd) {
  const std::string text =
      "(int32[1,2] i, int32[1,2] s, float[5,4] w, float[3,4] p, float[2,4] t, float[4] g, int32[1,2] k) => "
      "(float[1,2,4] y) { y = com.microsoft.EmbedLayerNormalization (i, s, w, p, t, g, g, , k) }";
  const auto feed = [](std::vector<int32_t> words, std::vector<int32_t> segments,
                       std::vector<int32_t> positions) {
    return std::vector<Tensor>{ints({1, 2}, words),    ints({1, 2}, segments), floats({5, 4}),
                               floats({3, 4}),         floats({2, 4}),         floats({4}),
                               ints({1, 2}, positions)};
  };
  expect_refused(text, feed({-1, 0}, {0, 1}, {0, 1}), "-1");
  expect_refused(text, feed({0, 5}, {0, 1}, {0, 1}), "5");
  expect_refused(text, feed({0, 1}, {-2, 1}, {0, 1}), "-2");
  expect_refused(text, feed({0, 1}, {0, 1}, {0, -3}), "-3");
}

TEST(EngineRefusal, KernelsSpeakAsTheReference) {
  expect_refused("(float[4,3] x, int64[n] i) => (float[n,3] y) { y = Gather (x, i) }",
                 {floats({4, 3}), longs({2}, {0, 4})}, "index 4 is out of range for axis 0 of extent 4");
  expect_refused("(float[4,3] x, int64[2,3] i) => (float[2,3] y) { y = GatherElements <axis = 0> (x, i) }",
                 {floats({4, 3}), longs({2, 3}, {0, 1, 2, 3, -5, 0})}, "index -5 is out of range");
  expect_refused("(float[4,3] x, int64[1,2] i) => (float[1] y) { y = GatherND (x, i) }",
                 {floats({4, 3}), longs({1, 2}, {0, 3})}, "index 3 is out of range for axis 1 of extent 3");
  // The updates have a wrong shape, which only the run shows.
  expect_refused("(float[4,8] x, int64[3,1] i, float[a,b] u) => (float[4,8] y) { y = ScatterND (x, i, u) }",
                 {floats({4, 8}), longs({3, 1}, {1, 1, -3}), floats({3, 2})}, "updates");
  Tensor region = floats({1, 4});
  for (int64_t i = 0; i < 4; ++i) region.mutable_data<float>()[i] = i < 2 ? -1e30F : 1e30F;
  expect_refused(
      "(float[1,2,4,4] x, float[1,4] r, int64[1] b) => (float[1,2,2,2] y) { y = RoiAlign <output_height = 2, "
      "output_width = 2, sampling_ratio = 0> (x, r, b) }",
      {floats({1, 2, 4, 4}), region, longs({1}, {0})}, "too large");
  expect_refused(
      "(float[1,2,4,4] x, float[1,4] r, int64[1] b) => (float[1,2,2,2] y) { y = RoiAlign <output_height = 2, "
      "output_width = 2> (x, r, b) }",
      {floats({1, 2, 4, 4}), floats({1, 4}), longs({1}, {-1})}, "region 0 is in image -1 of 1");
  expect_refused(
      "(float[3,2,4] x, int64[2] n) => (float[3,2,4] y) { y = ReverseSequence <batch_axis = 1, time_axis = "
      "0> "
      "(x, n) }",
      {floats({3, 2, 4}), longs({2}, {1, 4})}, "a sequence length is 4");
  expect_refused(
      "(float[3,1,2] x, float[1,4,2] w, float[1,4,1] r, int32[1] n) => (float[3,1,1,1] y) { y = LSTM "
      "<hidden_size = 1> (x, w, r, , n) }",
      {floats({3, 1, 2}), floats({1, 4, 2}), floats({1, 4, 1}), ints({1}, {-1})}, "sequence length of -1");
}

TEST(EngineRefusal, WhatTheBuildFindsIsSaidInTheRun) {
  expect_refused(
      "(int8[2,5,1] x) => (int8[a,b,c] y) <int64[6] p = {1, -7, 0, 0, 4, 0}> { y = Pad <mode = \"reflect\"> "
      "(x, p) }",
      {Tensor::zeros(DType::kInt8, {2, 5, 1})}, "an axis without elements cannot be padded from itself", 25);
  expect_refused("(float[1,4] x, int64[1,2] i, float[2] u) => (float[1,4] y) { y = ScatterND (x, i, u) }",
                 {floats({1, 4}), longs({1, 2}, {-1, 0}), floats({2})},
                 "updates has shape (2,), the indices need (1,)");
  // As many elements in another shape.
  expect_refused(
      "(float[1,1,1] x, int64[1,1] i, float[1,1,1,1] u) => (float[1,1,1] y) { y = ScatterND (x, i, u) }",
      {floats({1, 1, 1}), longs({1, 1}, {0}), floats({1, 1, 1, 1})},
      "updates has shape (1, 1, 1, 1), the indices need (1, 1, 1)");
  expect_refused(
      "(bool[4,7,5] x) => (bool[4,7,n] y) <int64[1] s = {9223372036854775807}> { y = CenterCropPad <axes = "
      "[2]> (x, s) }",
      {Tensor::zeros(DType::kBool, {4, 7, 5})}, "bytes that there are");
}

TEST(EngineRefusal, OfResultsWithoutElementsToo) {
  Tensor bytes = Tensor::zeros(DType::kInt8, {1, 1, 1, 0});
  expect_refused(
      "(float[1,1,1] a, int8[1,1,1,0] b, float[1,1,2,1] s) => (float[1,1,1,0] y) { y = "
      "com.microsoft.DynamicQuantizeMatMul (a, b, s) }",
      {floats({1, 1, 1}), bytes, floats({1, 1, 2, 1})},
      "input 2 of shape (1, 1, 2, 1) does not suit matrices");
}

/// Inputs that ONNX Runtime refuses, too.
TEST(EngineRefusal, WhatTheStandardDoesNotAllow) {
  expect_refused(
      "(float[2,1,1,3] x, int64[2,1,1,3] i, int64[4] s) => (float[a,b,c,d] y) { y = MaxUnpool <kernel_shape "
      "= "
      "[2, 2], strides = [2, 2]> (x, i, s) }",
      {floats({2, 1, 1, 3}), longs({2, 1, 1, 3}, {7, 8, 11, 19, 15, 16}), longs({4}, {2, 100, 2, 6})},
      "other images or channels", 11);
  expect_refused(
      "(float[1,2,4] b, float[1,1,2] s, int64 m, float t) => (int64[n,3] y) { y = NonMaxSuppression (b, s, "
      "m, "
      "t) }",
      {floats({1, 2, 4}), floats({1, 1, 2}), longs({}, {1}), Tensor::vector<float>({2.5F}).reshaped(Shape{})},
      "the iou_threshold is 2.5", 11);
  expect_refused("(float[4] x, int64[1,1] s) => (float[n] y) { y = Reshape (x, s) }",
                 {floats({4}), longs({1, 1}, {-1})}, "input 1 must be a vector, found shape (1, 1)");
}

TEST(EngineRefusal, WhatMemoryDoesNotHold) {
  set_memory_limit(int64_t{64} << 20);
  const auto model = network("(int64[2] s) => (float[a,b] y) { y = ConstantOfShape (s) }", 20);
  const std::vector<Tensor> feed = {longs({2}, {int64_t{1} << 32, 2})};
  const Refusal reference = refusal_of([&] {
    Interpreter(model, {.precision = ReferencePrecision::kStored})
        .run(feed, [](const Value&, std::span<const Tensor>) {});
  });
  const Refusal engine = refusal_of([&] {
    built_in_backends().get("engine").open({model, {}}, {})->run(feed, [](size_t, const Tensor&) {});
  });
  set_memory_limit(0);
  EXPECT_NE(reference.message.find("bytes that there are"), std::string::npos) << reference.message;
  EXPECT_EQ(without_amounts(engine.message), without_amounts(reference.message));
}

/// Before opset 7 a node broadcasts only by its attribute.
TEST(EngineRefusal, OldFormsThatDoNotBroadcast) {
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    const std::string open =
        fmt::format("(float[a,b] x, float[c,d] z) => (float[a,b] y) {{ y = {} (x, z) }}", op);
    expect_refused(open, {floats({2, 3}), floats({2, 1})}, "does not fit", 6);
    const std::string ranks = fmt::format("(float x, float z) => (float y) {{ y = {} (x, z) }}", op);
    const std::shared_ptr<Model> model = network(ranks, 6);
    for (Value* v : model->graph->inputs) v->type = Type::tensor(DType::kFloat32);
    const std::vector<Tensor> feed = {floats({2, 3}), floats({3})};
    const Refusal engine = refusal_of([&] {
      built_in_backends().get("engine").open({model, {}}, {})->run(feed, [](size_t, const Tensor&) {});
    });
    EXPECT_NE(engine.message.find("does not ask for broadcasting"), std::string::npos) << engine.message;
  }
}

TEST(EngineRefusal, InBodiesToo) {
  expect_refused(
      "(float[4] x, int64[3] i) => (float[3] y) <int64 m = {3}> { j0 = Constant <value_int = 0> () last, y = "
      "Loop <body: graph = b (int64 t, bool c, "
      "int64 s) => (bool o, int64 u, float v) { o = Identity (c) j = Gather (i, t) u = Add (s, j) v = Gather "
      "(x, "
      "u) }> (m, , j0) }",
      {floats({4}), longs({3}, {1, 2, 3})}, "index 6 is out of range");
}

}  // namespace
}  // namespace assay::engine_refusal_test
