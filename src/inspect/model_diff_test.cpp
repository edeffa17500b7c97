#include "assay/inspect.h"

#include <gtest/gtest.h>

#include <limits>

#include "inspect/inspect_test_util.h"

namespace assay::model_diff_test {
namespace {

/// `blocks` times MatMul, Add, Relu with weights of their own; names start with `prefix`.
TestModel chain(int blocks, const std::string& prefix = "", int without = -1, int changed = -1) {
  TestModel m;
  m.input("x", {2, 4});
  std::string at = "x";
  for (int i = 0; i < blocks; ++i) {
    if (i == without) continue;
    const std::string name = prefix + std::to_string(i);
    m.constant(name + "w", {4, 4}, static_cast<float>(i) + (i == changed ? 0.5F : 0.0F));
    m.constant(name + "b", {4}, 10);
    m.node("MatMul", {at, name + "w"}, {name + "p"}, {}, name + "product");
    m.node("Add", {name + "p", name + "b"}, {name + "s"}, {}, name + "sum");
    m.node("Relu", {name + "s"}, {name + "r"}, {}, name + "relu");
    at = name + "r";
  }
  m.node("Softmax", {at}, {"y"}, {{"axis", int64_t{1}}}, prefix + "softmax");
  m.output("y", {2, 4});
  return m;
}

std::vector<std::string> lines(const ModelDiff& diff) {
  std::vector<std::string> list;
  for (const ModelDifference& d : diff.differences)
    list.push_back(fmt::format("{} {}: {} -> {}", name_of(d.change), d.what, d.before, d.after));
  return list;
}
using Lines = std::vector<std::string>;

ModelDiff diff(const TestModel& a, const TestModel& b, const DiffOptions& options = {}) {
  return diff_models(*a.model, *b.model, options);
}

TEST(ModelDiffTest, RenamesAndOrderMakeNoDifference) {
  const TestModel a = chain(3), b = chain(3, "other");
  EXPECT_TRUE(diff(a, a).is_same());
  const ModelDiff d = diff(a, b);
  EXPECT_EQ(lines(d), Lines());
  EXPECT_EQ(d.matched, 10);
  EXPECT_EQ(d.renamed_nodes, 10);
  EXPECT_EQ(d.renamed_values, 9);
}

TEST(ModelDiffTest, AChangedWeightIsTheOnlyDifference) {
  const ModelDiff d = diff(chain(3), chain(3, "other", -1, 1));
  EXPECT_EQ(lines(d), Lines{"changed initializer '1w': float32[4, 4] -> float32[4, 4]"});
  EXPECT_EQ(d.differences[0].max_difference, 0.5);
}

TEST(ModelDiffTest, ARemovedBlockIsFoundByItsWeights) {
  const ModelDiff d = diff(chain(4), chain(4, "other", 2));
  EXPECT_EQ(d.matched, 10);
  EXPECT_EQ(lines(d), (Lines{"removed node '2product' (MatMul):  -> ", "removed node '2sum' (Add):  -> ",
                             "removed node '2relu' (Relu):  -> ",
                             "changed input 0 of node '3product' (MatMul): '2r' -> 'other1r'"}));
}

TEST(ModelDiffTest, AnInsertedNode) {
  TestModel b = chain(2);
  Node* sum = nullptr;
  for (const auto& n : b.graph->nodes())
    if (n->name == "1sum") sum = n.get();
  Value* extra = b.graph->add_value("extra");
  b.graph->insert_node(sum, "Neg", {sum->input(0)}, {extra}, {}, "extra");
  sum->set_input(0, extra);
  EXPECT_EQ(lines(diff(chain(2), b)), (Lines{"added node 'extra' (Neg):  -> ",
                                             "changed input 0 of node '1sum' (Add): '1p' -> 'extra'"}));
}

TEST(ModelDiffTest, AttributesOperatorsAndNumbering) {
  const TestModel a = chain(2);
  const TestModel b = chain(2);
  Node& softmax = *b.graph->nodes().back();
  softmax.set_attribute("axis", int64_t{-1});
  softmax.set_attribute("extra", std::string("text"));
  b.graph->nodes()[2]->op_type = "Gelu";
  EXPECT_EQ(lines(diff(a, b)), (Lines{"changed operator of node '0relu' (Relu): Relu -> Gelu",
                                      "changed attribute 'axis' of node 'softmax' (Softmax): 1 -> -1",
                                      "added attribute 'extra' of node 'softmax' (Softmax):  -> text"}));
  softmax.remove_attribute("axis");
  EXPECT_EQ(lines(diff(a, b, {.ignore = {ModelDifference::Kind::kAttribute}})).size(), 1U);
}

TEST(ModelDiffTest, InterfaceOpsetsAndMetadata) {
  TestModel a = chain(1), b = chain(1);
  b.graph->inputs[0]->rename("image");
  b.graph->inputs[0]->type = Type::tensor(DType::kFloat16, Dims{2, 4});
  b.input("second", {1});
  a.graph->outputs.push_back(a.graph->lookup("0p"));
  b.model->opsets = {{"ai.onnx", 18}, {"com.example", 1}};
  b.model->producer_name = "someone";
  b.model->metadata = {{"key", "value"}};
  EXPECT_EQ(
      lines(diff(a, b)),
      (Lines{"changed producer:  -> someone", "added property 'key':  -> value",
             "changed opset of domain 'ai.onnx': 17 -> 18", "added opset of domain 'com.example':  -> 1",
             "changed name of a graph input: x -> image",
             "changed type of 'image': float32[2, 4] -> float16[2, 4]",
             "added graph input 'second' float32[1]:  -> ", "removed graph output '0p' unknown:  -> "}));
}

TEST(ModelDiffTest, InsideSubgraphs) {
  const auto with_branch = [](float k) {
    TestModel m;
    m.input("c", {}, DType::kBool);
    m.input("x", {1});
    auto branch = m.subgraph();
    Value* y = branch->add_value("y");
    branch->add_node("Add", {m.graph->lookup("x"), branch->add_constant("k", Tensor::vector<float>({k}))},
                     {y});
    branch->outputs = {y};
    m.node("If", {"c"}, {"z"}, {{"then_branch", branch}}, "if");
    m.output("z", {1});
    return m;
  };
  EXPECT_TRUE(diff(with_branch(1), with_branch(1)).is_same());
  EXPECT_EQ(lines(diff(with_branch(1), with_branch(3))),
            Lines{"changed initializer 'k': float32[1] -> float32[1]"});
}

TEST(ModelDiffTest, SwappedInputsAreADifference) {
  const auto model = [](const std::string& first, const std::string& second) {
    TestModel m;
    m.input("a", {1});
    m.input("b", {1});
    m.node("Sub", {first, second}, {"y"}, {}, "sub");
    m.output("y", {1});
    return m;
  };
  EXPECT_EQ(lines(diff(model("a", "b"), model("b", "a"))),
            (Lines{"changed input 0 of node 'sub' (Sub): 'a' -> 'b'",
                   "changed input 1 of node 'sub' (Sub): 'b' -> 'a'"}));
}

TEST(ModelDiffTest, ConstantsOfOtherTypesShapesAndKinds) {
  const auto model = [](const Tensor& t) {
    TestModel m;
    m.graph->add_constant("k", t);
    m.node("Identity", {"k"}, {"y"}, {}, "id");
    m.output("y", {1});
    return m;
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto difference = [&](const Tensor& a, const Tensor& b) {
    const ModelDiff d = diff(model(a), model(b));
    return d.is_same() ? std::optional<double>(-1) : d.differences.at(0).max_difference;
  };
  const Tensor one = Tensor::vector<float>({1, kNan});
  EXPECT_EQ(difference(one, Tensor::vector<float>({1, kNan})), -1);
  EXPECT_EQ(difference(one, Tensor::vector<float>({1, 2})), std::numeric_limits<double>::infinity());
  EXPECT_EQ(difference(one, Tensor::vector<float>({1})), std::nullopt);
  EXPECT_EQ(difference(one, Tensor::vector<std::string>({"a", "b"})), std::nullopt);
  EXPECT_EQ(difference(Tensor::vector<int64_t>({INT64_MIN}), Tensor::vector<int64_t>({INT64_MAX})), 0x1p64);
  EXPECT_EQ(difference(Tensor::vector<std::string>({"a"}), Tensor::vector<std::string>({"b"})), std::nullopt);
}

TEST(ModelDiffTest, CopiesOfConstantsMakeNoDifferenceAndUnusedOnesDo) {
  const auto model = [](bool shared) {
    TestModel m;
    m.input("x", {2});
    m.constant("k", {2});
    if (!shared) m.constant("k2", {2});
    m.node("Add", {"x", "k"}, {"h"}, {}, "first");
    m.node("Mul", {"h", shared ? "k" : "k2"}, {"y"}, {}, "second");
    m.output("y", {2});
    return m;
  };
  const TestModel a = model(true), b = model(false);
  EXPECT_TRUE(diff(a, b).is_same());
  TestModel c = model(true);
  c.constant("lost", {1});
  EXPECT_EQ(lines(diff(c, b)), Lines{"removed initializer 'lost', which nothing uses:  -> "});
}

TEST(ModelDiffTest, TextAndJson) {
  const ModelDiff d = diff(chain(2), chain(2, "", -1, 1));
  EXPECT_EQ(diff_text(d),
            "Nodes: 7 -> 7 | In both: 7 | Renamed: 0 node(s), 0 value(s)\n\n"
            "---- 1 Difference(s) ----\n"
            "~ initializer '1w': float32[4, 4] | max absolute difference 0.5");
  const std::string json = diff_json(d);
  EXPECT_NE(json.find("\"same\": false"), std::string::npos);
  EXPECT_NE(json.find("\"kind\": \"initializer\""), std::string::npos);
  EXPECT_NE(json.find("\"max_difference\": 0.5"), std::string::npos);
}

}  // namespace
}  // namespace assay::model_diff_test
