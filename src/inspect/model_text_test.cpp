#include "assay/inspect.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "inspect/inspect_test_util.h"

namespace assay::model_text_test {
namespace {

/// From the description and from the model.
std::string text_of(const Model& model, const DescribeOptions& options = {}) {
  const std::string text = model_text(describe(model, options));
  EXPECT_EQ(model_text(model, options), text);
  return text;
}

constexpr DescribeOptions kAll = {.layers = true, .attrs = true, .weights = true};

TEST(ModelTextTest, CountsWithoutLayers) {
  TestModel m;
  m.input("x", {Dim::symbol("n"), 2, Dim()});
  m.constant("w", {2});
  m.node("Add", {"x", "w"}, {"y"});
  m.output("y", {1});
  EXPECT_EQ(text_of(*m.model),
            "Name: g | ONNX Opset: 17\n\n"
            "---- 1 Graph Input(s) ----\n{x [dtype=float32, shape=('n', 2, -1)]}\n\n"
            "---- 1 Graph Output(s) ----\n{y [dtype=float32, shape=(1,)]}\n\n"
            "---- 1 Initializer(s) ----\n\n"
            "---- 1 Node(s) ----");
}

TEST(ModelTextTest, LayersNameInitializersAndGaps) {
  TestModel m;
  m.input("x", {1});
  m.constant("w", {1});
  m.node("Op", {"x", "", "w"}, {"y", "z"}, {}, "n");
  m.node("Source", {}, {"s", "t"});
  m.node("Sink", {"s"}, {});
  const std::string text = text_of(*m.model, {.layers = true});
  EXPECT_NE(text.find("---- 1 Initializer(s) ----\n{w [dtype=float32, shape=(1,)]}\n"), std::string::npos);
  EXPECT_NE(text.find("Node 0    | n [Op: Op]\n"
                      "    {x [dtype=float32, shape=(1,)],\n"
                      "     ,\n"
                      "     Initializer | w [dtype=float32, shape=(1,)]}\n"
                      "     -> {y,\n"
                      "         z}\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Node 1    |  [Op: Source]\n    {} -> {s,\n t}\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Node 2    |  [Op: Sink]\n    {s} -> {}"), std::string::npos) << text;
}

TEST(ModelTextTest, AttributesAsPythonPrintsThem) {
  TestModel m;
  m.node("Op", {}, {"y"},
         {{"f", 0.1F},
          {"i", int64_t{-3}},
          {"s", std::string("a'b")},
          {"floats", std::vector<float>{0.1F, 1}},
          {"ints", std::vector<int64_t>{1, 2}},
          {"strings", std::vector<std::string>{"a", "b'"}},
          {"t", Tensor::vector<int64_t>({1, 2})}},
         "n");
  const std::string text = text_of(*m.model, kAll);
  EXPECT_NE(text.find("    ---- Attributes ----\n"
                      "    n.f = 0.10000000149011612\n"
                      "    n.i = -3\n"
                      "    n.s = a'b\n"
                      "    n.floats = [0.10000000149011612, 1.0]\n"
                      "    n.ints = [1, 2]\n"
                      "    n.strings = ['a', \"b'\"]\n"
                      "    n.t = Tensor: [dtype=int64, shape=[2]] | Values:\n"
                      "        [1 2]"),
            std::string::npos)
      << text;
}

TEST(ModelTextTest, SubgraphsAreIndented) {
  TestModel m;
  m.input("c", {}, DType::kBool);
  const auto branch = m.subgraph();
  branch->outputs.push_back(branch->add_constant("k", Tensor::vector<float>({1})));
  m.node("If", {"c"}, {"y"}, {{"then_branch", branch}});
  const std::string text = text_of(*m.model, kAll);
  EXPECT_NE(text.find("    then_branch = \n"
                      "            ---- 0 Subgraph Input(s) ----\n"
                      "            {}\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("            Initializer | k [dtype=float32, shape=[1]] | Values:\n                [1.]\n"),
      std::string::npos)
      << text;
}

TEST(ModelTextTest, SaysWhatItCannotShow) {
  TestModel m;
  m.node("Op", {}, {"y"}, {{"type", Type::tensor(DType::kFloat32)}});
  Value* w = m.graph->add_value("w", Type::tensor(DType::kFloat32, Dims{2}));
  w->set_missing();
  const log::Capture log;
  const std::string text = text_of(*m.model, kAll);
  EXPECT_NE(text.find("<error: failed to load weights>"), std::string::npos) << text;
  EXPECT_EQ(text.find("Attributes"), std::string::npos) << text;
  EXPECT_NE(log.out().find("[E] Failed to load weights."), std::string::npos);
  EXPECT_NE(log.out().find("[W] Attribute of type TYPE_PROTO is currently unsupported. Skipping attribute."),
            std::string::npos);
}

TEST(ModelTextTest, OtherDomainsAreADict) {
  TestModel m;
  m.model->opsets = {{"a", 1}, {"ai.onnx", 3}, {"b", 2}, {"a", 4}};
  EXPECT_EQ(text_of(*m.model).substr(0, 58), "Name: g | ONNX Opset: 3 | Other Opsets: {'a': 4, 'b': 2}\n\n");
  m.model->opsets.clear();
  EXPECT_EQ(text_of(*m.model).substr(0, 30), "Name: g | ONNX Opset: Unknown\n");
}

TEST(ModelTextTest, ValuesThatAreNoTensorsShowTheirType) {
  TestModel m;
  Type list;
  list.kind = Type::Kind::kSequence;
  list.element = std::make_shared<Type>(Type::tensor(DType::kFloat32, Dims{2}));
  m.graph->add_input("s", list);
  m.graph->add_input("u", {});
  EXPECT_NE(text_of(*m.model).find("{s [type=seq(float32[2])],\n u}"), std::string::npos);
}

TEST(ModelTextTest, ElementTypesHaveNames) {
  TestModel m;
  m.node("Cast", {}, {"a"}, {{"to", int64_t{1}}}, "c");
  m.node("EyeLike", {}, {"b"}, {{"dtype", int64_t{16}}, {"k", int64_t{1}}}, "e");
  m.node("Odd", {}, {"d"},
         {{"to", int64_t{99}}, {"target_type", int64_t{0}}, {"dtype", std::vector<int64_t>{1}}}, "o");
  const std::string text = text_of(*m.model, kAll);
  for (const char* line : {"c.to = float32\n", "e.dtype = bfloat16\n", "e.k = 1\n", "o.to = 99\n",
                           "o.target_type = undefined\n", "o.dtype = [1]"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

/// Upstream's indentation: two more steps for each graph around a body.
TEST(ModelTextTest, BodiesInBodiesAreIndentedFurther) {
  TestModel m;
  const auto body = [](const char* op, AttributeList attributes) {
    auto g = std::make_shared<Graph>();
    g->add_node(op, {}, {g->add_value(std::string(op) + "_out")}, std::move(attributes), op);
    return g;
  };
  const auto third = body("Third", {});
  const auto second = body("Second", {{"body", third}});
  m.node("First", {}, {"y"}, {{"body", body("Inner", {{"body", second}})}}, "First");
  const std::string text = text_of(*m.model, kAll);
  const auto column = [&](const std::string& word) {
    const size_t at = text.find(word);
    return at == std::string::npos ? std::string::npos : at - text.rfind('\n', at) - 1;
  };
  EXPECT_EQ(column("First.body"), 4U) << text;
  EXPECT_EQ(column("Node 0    | Inner"), 4U + 8U) << text;
  EXPECT_EQ(column("Inner.body"), 4U + 8U + 4U);
  EXPECT_EQ(column("Node 0    | Second"), 16U + 16U);
  EXPECT_EQ(column("Second.body"), 16U + 16U + 4U);
  EXPECT_EQ(column("Node 0    | Third"), 36U + 24U);
}

}  // namespace
}  // namespace assay::model_text_test
