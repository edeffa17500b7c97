#include "engine/specialize/open_parts.h"

#include <gtest/gtest.h>

#include <set>

#include "assay/edit.h"
#include "engine/specialize/decoder_test_util.h"
#include "engine/specialize/dynamic_part.h"
#include "graph/import.h"
#include "graph/read.h"
#include "passes/region.h"

namespace assay::engine::open_parts_test {
namespace {

std::vector<const Node*> networks_of(const Model& model) {
  std::vector<const Node*> networks;
  for (const auto& n : model.graph->nodes())
    if (is_region(*n, kNetwork)) networks.push_back(n.get());
  return networks;
}

size_t count(const Graph& g, std::string_view op) {
  return static_cast<size_t>(
      std::count_if(g.nodes().begin(), g.nodes().end(), [&](const auto& n) { return n->op_type == op; }));
}

TEST(OpenPartsTest, LayersShareOnePart) {
  const TestDecoder decoder(5);
  const OpenParts counts = cut_open_parts(*decoder.model);
  const std::vector<const Node*> networks = networks_of(*decoder.model);
  // The first computes the mask for all.
  ASSERT_EQ(networks.size(), 6U);
  std::set<const Graph*> bodies;
  for (const Node* n : networks) bodies.insert(&body_of(*n));
  EXPECT_EQ(bodies.size(), 2U);
  EXPECT_EQ(counts.inside, body_of(*networks[0]).nodes().size() + body_of(*networks[1]).nodes().size());
  EXPECT_EQ(count(body_of(*networks[0]), "Mul"), 1U);
  EXPECT_EQ(count(body_of(*networks[1]), "Softmax"), 1U);
  EXPECT_EQ(count(body_of(*networks[1]), "Shape"), 2U);
  // The products stay, and nothing that computes extents does.
  EXPECT_EQ(count(decoder.g, "MatMul"), 5U * 6);
  EXPECT_EQ(count(decoder.g, "Shape") + count(decoder.g, "Gather"), 0U);
  EXPECT_EQ(counts.outside, decoder.g.nodes().size() - networks.size());
  for (const auto& n : decoder.g.nodes()) {
    if (is_region(*n)) continue;
    for (const Value* v : n->inputs()) EXPECT_FALSE(is_open(v)) << n->label();
  }
}

TEST(OpenPartsTest, ExtentsThatAreUsedOutsideAreComputedThere) {
  TestDecoder decoder(1);
  Graph& g = decoder.g;
  Value* size = g.add_value("size");
  g.add_node("Size", {g.inputs[2]}, {size}, {}, "size");
  Value* as_float = g.add_value("as_float");
  g.add_node("Cast", {size}, {as_float}, {{"to", int64_t{1}}}, "cast");
  g.outputs.push_back(as_float);
  infer_shapes(*decoder.model);
  cut_open_parts(*decoder.model);
  EXPECT_EQ(networks_of(*decoder.model).size(), 1U);
  EXPECT_EQ(count(g, "Size"), 1U);
  EXPECT_EQ(count(g, "Cast"), 1U);
}

/// What a body takes from around it stands before its node.
TEST(OpenPartsTest, ExtentsThatBodiesTakeComeFromOutside) {
  TestDecoder decoder(1);
  Graph& g = decoder.g;
  Value* keys = g.outputs[1];
  const auto extents = std::find_if(g.nodes().begin(), g.nodes().end(), [&](const auto& n) {
    return n->op_type == "Shape" && n->input(0) == keys;
  });
  ASSERT_NE(extents, g.nodes().end());
  const auto branch = [&] {
    auto body = std::make_shared<Graph>();
    body->set_parent(&g);
    Value* out = body->add_value("expanded");
    body->add_node("Expand", {keys, (*extents)->output(0)}, {out});
    body->outputs = {out};
    return body;
  };
  Value* condition = g.add_input("condition", Type::tensor(DType::kBool, Shape{}));
  Value* chosen = g.add_value("chosen");
  g.add_node("If", {condition}, {chosen}, {{"then_branch", branch()}, {"else_branch", branch()}}, "if");
  g.outputs.push_back(chosen);
  infer_shapes(*decoder.model);
  cut_open_parts(*decoder.model);
  // The node itself is in no part.
  EXPECT_EQ(networks_of(*decoder.model).size(), 1U);
  EXPECT_EQ(count(g, "If"), 1U);
  EXPECT_EQ(count(g, "Shape"), 1U);
}

TEST(OpenPartsTest, OtherConstantsAreOtherParts) {
  TestDecoder decoder(3);
  size_t softmax = 0;
  for (const auto& n : decoder.g.nodes())
    if (n->op_type == "Softmax" && ++softmax == 3) n->set_attribute("axis", int64_t{1});
  cut_open_parts(*decoder.model);
  std::set<const Graph*> bodies;
  for (const Node* n : networks_of(*decoder.model)) bodies.insert(&body_of(*n));
  // The mask, the first two layers, the third.
  EXPECT_EQ(bodies.size(), 3U);
}

/// So that what needs them does not wait for the part that computes the value.
TEST(OpenPartsTest, ExtentsAreAskedOfInputs) {
  TestDecoder decoder(3);
  Graph& g = decoder.g;
  Value* cache = g.inputs[2];
  Value* sum = g.add_value("sum");
  g.add_node("Neg", {cache}, {sum}, {}, "sum");
  Value* extents = g.add_value("extents");
  Node* shape = g.add_node("Shape", {sum}, {extents}, {}, "shape");
  Value* expanded = g.add_value("expanded");
  g.add_node("Expand", {g.add_constant("one", Tensor::scalar<float>(1)), extents}, {expanded}, {}, "expand");
  g.outputs.insert(g.outputs.end(), {sum, expanded});
  infer_shapes(*decoder.model);
  const auto asked = [&] {
    ask_inputs(*decoder.model);
    return shape->input(0);
  };
  decoder.model->opsets = {{"", 14}};
  EXPECT_EQ(asked(), sum);
  decoder.model->opsets = {{"", 15}};
  EXPECT_EQ(asked(), cache);
  EXPECT_EQ(int_attribute(*shape, "start", -1), 0);
  EXPECT_EQ(int_attribute(*shape, "end", -1), 4);
}

TEST(OpenPartsTest, ExtentsOfAPartOfAnInput) {
  auto model = parse_text(
      "<ir_version: 8, opset_import: [\"\" : 18]>\n"
      "g (float[2,3,past,4] x) => (int64[3] y) <int64 one = {1}> { a = Gather <axis = 0> (x, one) y = Shape "
      "(a) }",
      "test");
  infer_shapes(*model);
  ask_inputs(*model);
  const Node& shape = *model->graph->nodes()[1];
  EXPECT_EQ(shape.input(0), model->graph->inputs[0]);
  EXPECT_EQ(int_attribute(shape, "start", -1), 1);
  EXPECT_EQ(int_attribute(shape, "end", -1), 4);
}

TEST(OpenPartsTest, NothingIsOpen) {
  TestDecoder decoder(2);
  for (Value* v : decoder.g.inputs)
    for (Dim& d : *v->type.dims)
      if (!d.is_known()) d = Dim(d.symbol() == "total" ? 8 : 7);
  infer_shapes(*decoder.model, {.keep_declared = false});
  const OpenParts counts = cut_open_parts(*decoder.model);
  EXPECT_EQ(counts.inside, 0U);
  EXPECT_TRUE(networks_of(*decoder.model).empty());
}

}  // namespace
}  // namespace assay::engine::open_parts_test
