#include "graph/initializer_data.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "graph/export.h"
#include "graph/import.h"
#include "onnx/messages.h"
#include "onnx/tensor_data.h"
#include "onnx/writer.h"

namespace assay::initializer_data_test {
namespace {

using onnx::MessageWriter;

/// float32 of shape [2] with a doc string and a field (99) that no ONNX version has.
MessageWriter weight_message(bool has_data) {
  MessageWriter w;
  w.integer(1, 2);
  w.integer(2, 1);
  w.text(8, "w");
  if (has_data) w.text(9, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  w.text(12, "words");
  w.text(99, "future");
  return w;
}

/// y = x + w; with `as_input`, w is a graph input, too; `entry`, unless it is null, stands in value_info.
std::string model_bytes(const MessageWriter& weight, bool as_input, const MessageWriter* entry = nullptr) {
  MessageWriter node, graph, opset, model;
  for (const char* input : {"x", "w"}) node.text(1, input);
  node.text(2, "y");
  node.text(4, "Add");
  graph.message(1, node);
  graph.message(5, weight);
  for (const char* input : {"x", "w"}) {
    if (input[0] == 'w' && !as_input) continue;
    MessageWriter info;
    info.text(1, input);
    info.text(3, "an input");
    graph.message(11, info);
  }
  MessageWriter y;
  y.text(1, "y");
  graph.message(12, y);
  if (entry != nullptr) graph.message(13, *entry);
  opset.integer(2, 17);
  model.integer(1, 8);
  model.message(7, graph);
  model.message(8, opset);
  return model.bytes();
}

std::shared_ptr<Model> parse(std::string bytes, bool allow_weightless = true) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return parse_model(*owner, owner, "test.onnx", {.allow_weightless = allow_weightless});
}

/// The only initializer's message in a saved model.
onnx::TensorMessage saved_weight(const Model& m, std::string& bytes) {
  bytes = serialize_model(m);
  return onnx::read_model(bytes).graph.initializers.at(0);
}

bool has_future_field(const onnx::TensorMessage& m) {
  return m.bytes.find("future") != std::string_view::npos;
}

class InitializerData : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(AlsoAnInput, InitializerData, ::testing::Bool());

TEST_P(InitializerData, StrippedAndReadAgain) {
  auto m = parse(model_bytes(weight_message(true), GetParam()));
  strip_data(*m->graph->find_value("w"), "TRT_WEIGHTLESS/SPARSE_2_4");
  for (int round = 0; round < 2; ++round) {
    const Value* w = m->graph->find_value("w");
    EXPECT_TRUE(is_weightless(*w));
    EXPECT_TRUE(w->is_constant());
    EXPECT_FALSE(w->tensor().defined());
    EXPECT_EQ(w->type.dtype, DType::kFloat32);
    EXPECT_EQ(known_shape(*w->type.dims), Shape({2}));
    EXPECT_EQ(tensor_doc_string(*w), "TRT_WEIGHTLESS/SPARSE_2_4");
    EXPECT_EQ(w->doc_string, GetParam() ? "an input" : "TRT_WEIGHTLESS/SPARSE_2_4");
    std::string bytes;
    const onnx::TensorMessage saved = saved_weight(*m, bytes);
    EXPECT_EQ(saved.doc_string, "TRT_WEIGHTLESS/SPARSE_2_4");
    EXPECT_TRUE(saved.has_raw_data && saved.raw_data.empty());
    EXPECT_TRUE(has_future_field(saved));
    m = parse(bytes);
  }
}

TEST_P(InitializerData, ReplacedWithoutLosingTheRest) {
  auto m = parse(model_bytes(weight_message(true), GetParam()));
  replace_data(*m->graph->find_value("w"), Tensor::vector<float>({3, 4}));
  std::string bytes;
  const onnx::TensorMessage saved = saved_weight(*m, bytes);
  EXPECT_EQ(saved.doc_string, "words");
  EXPECT_TRUE(has_future_field(saved));
  m = parse(bytes);
  EXPECT_TRUE(m->graph->find_value("w")->tensor().identical(Tensor::vector<float>({3, 4})));
}

TEST_P(InitializerData, FilledAgain) {
  auto m = parse(model_bytes(weight_message(true), GetParam()));
  Value* w = m->graph->find_value("w");
  strip_data(*w, "TRT_WEIGHTLESS/");
  replace_data(*w, Tensor::vector<float>({5, 6}));
  EXPECT_FALSE(is_weightless(*w));
  std::string bytes;
  EXPECT_EQ(saved_weight(*m, bytes).doc_string, "TRT_WEIGHTLESS/");
  m = parse(bytes, /*allow_weightless=*/false);
  EXPECT_TRUE(m->graph->find_value("w")->tensor().identical(Tensor::vector<float>({5, 6})));
}

TEST(Weightless, TheEntryInValueInfoKeepsItsWords) {
  // PyTorch's exporter lists initializers there, too.
  for (const std::string_view words : {"", "an entry"}) {
    MessageWriter entry, type, tensor, shape, extent;
    extent.integer(1, 2);
    shape.message(1, extent);
    tensor.integer(1, 1);
    tensor.message(2, shape);
    type.message(1, tensor);
    entry.text(1, "w");
    entry.message(2, type);
    entry.text_if(3, words);
    auto m = parse(model_bytes(weight_message(true), false, &entry));
    strip_data(*m->graph->find_value("w"), "TRT_WEIGHTLESS/");
    for (int round = 0; round < 2; ++round) {
      const std::string bytes = serialize_model(*m);
      const onnx::GraphMessage saved = onnx::read_model(bytes).graph;
      EXPECT_EQ(saved.initializers.at(0).doc_string, "TRT_WEIGHTLESS/");
      ASSERT_EQ(saved.value_infos.size(), 1U);
      EXPECT_EQ(saved.value_infos[0].doc_string, words);
      m = parse(bytes);
    }
  }
}

TEST(Weightless, RefusedUnlessAllowed) {
  auto m = parse(model_bytes(weight_message(true), false));
  strip_data(*m->graph->find_value("w"), "TRT_WEIGHTLESS/");
  try {
    parse(serialize_model(*m), /*allow_weightless=*/false);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "its data were stripped (its doc string says so: TRT_WEIGHTLESS) [in initializer 'w'] [in "
                 "test.onnx]. Give the model random weights first.");
  }
}

TEST(Weightless, WithoutTheMarkMissingDataAreDamage) {
  EXPECT_THROW(parse(model_bytes(weight_message(false), false)), Error);
}

TEST(Weightless, AnAbsurdShapeIsRefused) {
  MessageWriter w;
  w.integer(1, int64_t{1} << 40);
  w.integer(1, int64_t{1} << 40);
  w.integer(2, 1);
  w.text(8, "w");
  w.text(12, "TRT_WEIGHTLESS/");
  EXPECT_THROW(parse(model_bytes(w, false)), Error);
}

TEST(Weightless, NoElementsNeedNoData) {
  MessageWriter w;
  w.integer(1, 0);
  w.integer(2, 1);
  w.text(8, "w");
  w.text(9, "");
  w.text(12, "TRT_WEIGHTLESS/");
  const auto m = parse(model_bytes(w, false), /*allow_weightless=*/false);
  EXPECT_EQ(m->graph->find_value("w")->tensor().numel(), 0);
}

TEST(Weightless, LeftoversOfTypedDataAreDropped) {
  // The real tool empties raw_data only, also of a tensor whose elements are in float_data.
  MessageWriter w = weight_message(false);
  w.text(4, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  w.text(9, "");
  w.text(12, "TRT_WEIGHTLESS/");
  const auto m = parse(model_bytes(w, false));
  Value* v = m->graph->find_value("w");
  EXPECT_TRUE(is_weightless(*v));
  replace_data(*v, Tensor::vector<float>({7, 8}));
  const auto again = parse(serialize_model(*m), /*allow_weightless=*/false);
  EXPECT_TRUE(again->graph->find_value("w")->tensor().identical(Tensor::vector<float>({7, 8})));
}

TEST(Weightless, OneThatWasMadeHere) {
  Model m;
  m.opsets = {{"", 17}};
  Graph& g = *m.graph;
  Value* w = g.add_constant("w", Tensor::vector<float>({1, 2}));
  g.outputs = {g.add_value("y", {})};
  g.add_node("Identity", {w}, {g.outputs[0]});
  strip_data(*w, "TRT_WEIGHTLESS/");
  w->rename("other");
  const auto again = parse(serialize_model(m));
  EXPECT_TRUE(is_weightless(*again->graph->find_value("other")));
}

}  // namespace
}  // namespace assay::initializer_data_test
