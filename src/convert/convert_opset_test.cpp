#include "convert/convert_opset.h"

#include <set>

#include "convert/convert_test_util.h"
#include "graph/import.h"

namespace assay::convert_opset_test {
namespace {

/// x -> Squeeze -> Unsqueeze -> y in opset 13, with the axes as initializers.
std::shared_ptr<Model> two_nodes() {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 13}, {"com.microsoft", 1}};
  model->ir_version = 8;
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{1, 3}));
  Value* axes = g.add_constant("axes", int64s({0}));
  Value *mid = g.add_value("mid"), *y = g.add_value("y");
  g.add_constant("unused", int64s({7}));
  g.add_node("Squeeze", {x, axes}, {mid}, {}, "first");
  g.add_node("Unsqueeze", {mid, axes}, {y}, {}, "second");
  g.outputs = {y};
  return model;
}

TEST(ConvertOpset, LeavesNothingBehind) {
  const std::shared_ptr<Model> model = two_nodes();
  const ConvertReport report = convert_opset(*model, {.version = 11});
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(report.from, 13);
  EXPECT_EQ(report.rewritten, 2);
  EXPECT_EQ(report.added, 0);
  EXPECT_EQ(model->graph->find_value("axes"), nullptr);
  EXPECT_NE(model->graph->find_value("unused"), nullptr);  // nothing used it before, either
  EXPECT_EQ(model->graph->find_value("mid")->type.kind, Type::Kind::kUnknown);
  EXPECT_EQ(model->opset(""), 11);
  EXPECT_EQ(model->opset("com.microsoft"), 1);
}

TEST(ConvertOpset, NamesSurvive) {
  const OneNode softmax("Softmax", 11, {mixed({2, 3, 4})});
  const std::shared_ptr<Model> after = converted(*softmax.model, 13);
  std::vector<std::string> names;
  for (const auto& n : after->graph->nodes()) names.push_back(n->name);
  EXPECT_EQ(names, (std::vector<std::string>{"node/Shape", "node/Flatten", "node", "node/Reshape"}));
  EXPECT_EQ(after->graph->outputs[0]->name(), "out0");
}

/// Nodes of the same kind before and behind a node, and one of the model that has the name already.
TEST(ConvertOpset, NodesHaveDifferentNames) {
  const OneNode softmax("Softmax", 13, {mixed({2, 3, 4})}, {{"axis", int64_t{1}}});
  Graph& g = *softmax.model->graph;
  Value* y = g.add_value("y");
  g.add_node("Relu", {g.outputs[0]}, {y}, {}, "node/Transpose");
  g.outputs = {y};
  const std::shared_ptr<Model> after = converted(*softmax.model, 11);
  std::set<std::string> names;
  for (const auto& n : after->graph->nodes()) names.insert(n->name);
  EXPECT_EQ(after->graph->nodes().size(), 4U);
  EXPECT_EQ(names.size(), 4U);
}

TEST(ConvertOpset, IrVersions) {
  std::shared_ptr<Model> model = two_nodes();
  convert_opset(*model, {.version = 21});
  EXPECT_EQ(model->ir_version, 10);
  model = two_nodes();
  convert_opset(*model, {.version = 11});
  EXPECT_EQ(model->ir_version, 6);
  model = two_nodes();
  convert_opset(*model, {.version = 7});
  EXPECT_EQ(model->ir_version, 4);  // initializers that are not inputs
  model = two_nodes();
  model->graph->nodes()[0]->metadata = {{"key", "value"}};
  convert_opset(*model, {.version = 11});
  EXPECT_EQ(model->ir_version, 8);  // never raised without need
  model->ir_version = 12;
  convert_opset(*model, {.version = 9});
  EXPECT_EQ(model->ir_version, 10);  // metadata of nodes
  model->ir_version = 12;
  convert_opset(*model, {.version = 13});
  EXPECT_EQ(model->ir_version, 12);
}

TEST(ConvertOpset, InitializersThatAreNoInputsNeedIrVersion4) {
  const OneNode node("Reshape", 1, {mixed({2, 3})}, {{"shape", Ints{3, 2}}});
  node.model->ir_version = 3;
  const std::shared_ptr<Model> after = clone_model(*node.model);
  convert_opset(*after, {.version = 8});
  EXPECT_EQ(after->ir_version, 4);
  EXPECT_EQ(after->graph->nodes().size(), 1U);
  expect_same_outputs(evaluate(node.model, node.feed), evaluate(after, node.feed), 0);
  const OneNode relu("Relu", 6, {mixed({2, 3})});
  relu.model->ir_version = 3;
  convert_opset(*relu.model, {.version = 8});
  EXPECT_EQ(relu.model->ir_version, 3);
}

TEST(ConvertOpset, IntegerConstantsBecomeInitializers) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 13}};
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{2, 3}));
  Value *shape = g.add_value("shape"), *y = g.add_value("y"), *z = g.add_value("z");
  g.add_node("Constant", {}, {shape}, {{"value_ints", Ints{3, 2}}});
  g.add_node("Reshape", {x, shape}, {y});
  g.add_node("Constant", {}, {z}, {{"value", int64s({1})}});
  g.outputs = {y, z};
  const std::shared_ptr<Model> after = converted(*model, 7);
  EXPECT_TRUE(after->graph->find_value("shape")->tensor().defined());
  expect_same_outputs(evaluate(model, {mixed({2, 3})}), evaluate(after, {mixed({2, 3})}), 0);
}

TEST(ConvertOpset, SubgraphsAndTheirCaptures) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 13}};
  Graph& g = *model->graph;
  Value* c = g.add_input("c", Type::tensor(DType::kBool, Shape{}));
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{1, 2, 3}));
  Value* s = g.add_input("s", Type::tensor(DType::kFloat32, Shape{2, 3}));
  Value* axes = g.add_constant("axes", int64s({0}));
  const auto branch = [&](const char* op, AttributeList attributes, std::vector<Value*> in) {
    auto sub = std::make_shared<Graph>();
    sub->name = op;
    sub->set_parent(&g);
    Value* out = sub->add_value(std::string(op) + "_out");
    sub->add_node(op, std::move(in), {out}, std::move(attributes));
    sub->outputs = {out};
    return sub;
  };
  Value* y = g.add_value("y");
  g.add_node("If", {c}, {y},
             {{"then_branch", branch("Squeeze", {}, {x, axes})},
              {"else_branch", branch("Softmax", {{"axis", int64_t{0}}}, {s})}});
  g.outputs = {y};
  const std::shared_ptr<Model> after = converted(*model, 9);
  for (const bool flag : {false, true}) {
    const std::vector<Tensor> feed = {Tensor::scalar(flag), mixed({1, 2, 3}), mixed({2, 3})};
    expect_same_outputs(evaluate(model, feed), evaluate(after, feed), 0);
  }
}

std::vector<ConvertProblem> problems_of(const char* graph, int64_t to) {
  const std::shared_ptr<Model> model =
      parse_text(std::string("<ir_version: 8, opset_import: [\"\" : 17]> ") + graph, "text");
  return convert_opset(*model, {.version = to}).problems;
}

/// Up to version 10, both branches give tensors of one shape.
TEST(ConvertOpset, BranchesOfDifferentShapesHaveNoOldForm) {
  const char* ranks =
      "g (float[1, 3] x, bool c) => (float[] y) <int64[1] a = {0}> { [n] y = If (c) <then_branch = t () => "
      "(float[3] p) { p = Squeeze (x, a) }, else_branch = e () => (float[1, 3] q) { q = Neg (x) }> }";
  const char* extents =
      "g (float[1, 3] x, bool c) => (float[m, 3] y) <int64[2] a = {2, 1}> { [n] y = If (c) <then_branch = t "
      "() => "
      "(float[2, 3] p) { p = Tile (x, a) }, else_branch = e () => (float[1, 3] q) { q = Neg (x) }> }";
  for (const char* graph : {ranks, extents}) {
    const std::vector<ConvertProblem> problems = problems_of(graph, 9);
    ASSERT_EQ(problems.size(), 1U) << graph;
    EXPECT_EQ(problems[0].node, "'n' (If)");
    EXPECT_EQ(problems[0].nearest, 11);
    EXPECT_NE(problems[0].reason.find("'q' is "), std::string::npos) << problems[0].reason;
    EXPECT_TRUE(problems_of(graph, 11).empty());
  }
  EXPECT_TRUE(
      problems_of("g (float[1, 3] x, bool c) => (float[1, 3] y) { [n] y = If (c) <then_branch = t () => "
                  "(float[1, 3] p) { p = Abs (x) }, else_branch = e () => (float[1, 3] q) { q = Neg (x) }> }",
                  9)
          .empty());
}

TEST(ConvertOpset, BranchesAndLoopsOfSequencesHaveNoOldForm) {
  const char* branches =
      "g (float[2] x, bool c) => (float[n] y) { [n] q = If (c) <then_branch = t () => (seq(float[2]) p) { p "
      "= "
      "SequenceConstruct (x, x) }, else_branch = e () => (seq(float[2]) r) { r = SequenceConstruct (x) }> y "
      "= "
      "ConcatFromSequence <axis = 0> (q) }";
  EXPECT_FALSE(problems_of(branches, 12).empty());
  EXPECT_TRUE(problems_of(branches, 13).empty());
  const char* loop =
      "g (float[2] x) => (float[n] y) <int64 m = {2}> { s = SequenceConstruct (x) [n] q = Loop <body = b "
      "(int64 i, "
      "bool k, seq(float[2]) p) => (bool l, seq(float[2]) r) { l = Identity (k) r = SequenceInsert (p, x) }> "
      "(m, "
      "\"\", s) y = ConcatFromSequence <axis = 0> (q) }";
  EXPECT_FALSE(problems_of(loop, 12).empty());
  EXPECT_TRUE(problems_of(loop, 13).empty());
}

TEST(ConvertOpset, ScansOfABatch) {
  const auto body = [] {
    auto sub = std::make_shared<Graph>();
    sub->name = "body";
    Value* state = sub->add_input("state", Type::tensor(DType::kFloat32, Shape{2}));
    Value* entry = sub->add_input("entry", Type::tensor(DType::kFloat32, Shape{2}));
    Value *next = sub->add_value("next", Type::tensor(DType::kFloat32, Shape{2})),
          *out = sub->add_value("out", Type::tensor(DType::kFloat32, Shape{2}));
    sub->add_node("Add", {state, entry}, {next});
    sub->add_node("Mul", {state, entry}, {out});
    sub->outputs = {next, out};
    return sub;
  };
  expect_same({"Scan",
               8,
               {missing(), mixed({3, 2}), mixed({3, 4, 2})},
               {{"body", body()}, {"num_scan_inputs", int64_t{1}}, {"directions", Ints{1}}},
               2},
              19);
  expect_same({"Scan",
               9,
               {mixed({2}), mixed({4, 2})},
               {{"body", body()}, {"num_scan_inputs", int64_t{1}}, {"scan_input_directions", Ints{1}}},
               2},
              8);
  expect_same({"Scan",
               11,
               {mixed({2}), mixed({2, 4})},
               {{"body", body()}, {"num_scan_inputs", int64_t{1}}, {"scan_input_axes", Ints{-1}}},
               2},
              9, {"Scan"});
}

TEST(ConvertOpset, LocalFunctionsWithTheirOwnImports) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 11}, {"local", 1}};
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{2, 3}));
  Value* y = g.add_value("y");
  g.add_node("Peak", {x}, {y}, {}, "call", "local");
  g.outputs = {y};
  Function f;
  f.domain = "local";
  f.name = "Peak";
  f.opsets = {{"", 11}};
  Value* in = f.body->add_value("in");
  Value* out = f.body->add_value("out");
  f.body->inputs = {in};
  f.body->outputs = {out};
  f.body->add_node("ReduceMax", {in}, {out}, {{"axes", Ints{1}}});
  model->functions.push_back(std::move(f));
  const std::shared_ptr<Model> after = clone_model(*model);
  const ConvertReport report = convert_opset(*after, {.version = 20});
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(after->functions[0].opsets[0].version, 20);
  EXPECT_EQ(after->functions[0].body->nodes().size(), 2U);  // a function has no initializers
  EXPECT_EQ(after->functions[0].body->nodes()[0]->op_type, "Constant");
}

TEST(ConvertOpset, NodesOfConstantsAreEvaluated) {
  // A graph has initializers, a function has Constant nodes; large results stay formulas.
  const OneNode window("HannWindow", 17, {fixed(Tensor::scalar(int64_t{4}))});
  window.model->graph->add_node("Relu", {window.model->graph->outputs[0]},
                                {window.model->graph->add_value("y")});
  window.model->graph->outputs = {window.model->graph->find_value("y")};
  const std::shared_ptr<Model> after = converted(*window.model, 7);
  EXPECT_EQ(after->graph->nodes().size(), 1U);
  EXPECT_TRUE(after->graph->find_value("out0")->tensor().defined());
  expect_same({"ConstantOfShape", 9, {fixed(int64s({2048, 1024}))}}, 8, {"Expand"});
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 17}, {"local", 1}};
  Value* y = model->graph->add_value("y");
  model->graph->add_node("Window", {}, {y}, {}, "call", "local");
  model->graph->outputs = {y};
  Function f;
  f.domain = "local";
  f.name = "Window";
  f.opsets = {{"", 17}};
  Value *size = f.body->add_value("size"), *out = f.body->add_value("out");
  f.body->outputs = {out};
  f.body->add_node("Constant", {}, {size}, {{"value", Tensor::scalar(int64_t{4})}});
  f.body->add_node("HannWindow", {size}, {out});
  model->functions.push_back(std::move(f));
  const ConvertReport report = convert_opset(*model, {.version = 9});
  EXPECT_TRUE(report.problems.empty());
  for (const auto& n : model->functions[0].body->nodes())
    EXPECT_TRUE(n->op_type == "Constant" || n->op_type == "Identity") << n->op_type;
}

TEST(ConvertOpset, AttributesThatACallGivesAreNotGuessed) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 11}};
  Function f;
  f.domain = "local";
  f.name = "Max";
  f.attribute_names = {"axes"};
  f.opsets = {{"", 11}};
  Value *in = f.body->add_value("in"), *out = f.body->add_value("out");
  f.body->inputs = {in};
  f.body->outputs = {out};
  Node* n = f.body->add_node("ReduceMax", {in}, {out});
  n->attributes.push_back({.name = "axes", .ref_attr_name = "axes"});
  model->functions.push_back(std::move(f));
  const ConvertReport report = convert_opset(*model, {.version = 18});
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].reason.find("whatever a call of the function gives"), std::string::npos);
  EXPECT_EQ(report.problems[0].nearest, 17);
}

TEST(ConvertOpset, AllProblemsAtOnce) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 20}};
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{2, 3}));
  Value* s = g.add_input("s", Type::tensor(DType::kString, Shape{2}));
  Value *a = g.add_value("a"), *b = g.add_value("b");
  g.add_node("StringConcat", {s, s}, {a}, {}, "text");
  g.add_node("Unique", {x}, {b}, {}, "unique");
  g.outputs = {a, b};
  const ConvertReport report = convert_opset(*model, {.version = 9});
  ASSERT_EQ(report.problems.size(), 2U);
  EXPECT_EQ(report.problems[0].str(9),
            "'text' (StringConcat): the operator StringConcat has no equivalent in opset 9; the nearest that "
            "has it is 20.");
  EXPECT_EQ(report.problems[1].nearest, 11);
}

TEST(ConvertOpset, UnknownOperatorsStayWithANote) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 13}, {"com.microsoft", 1}};
  Graph& g = *model->graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Shape{2, 3}));
  Value *a = g.add_value("a"), *b = g.add_value("b"), *c = g.add_value("c");
  g.add_node("Frobnicate", {x}, {a});
  g.add_node("Gelu", {a}, {b}, {}, "", "com.microsoft");
  g.add_node("Relu", {b}, {c}, {}, "relu");
  g.outputs = {c};
  const ConvertReport report = convert_opset(*model, {.version = 11});
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(report.notes,
            (std::vector<std::string>{
                "The operator Frobnicate of ai.onnx is unknown; its nodes stay as they are.",
                "'relu' (Relu): not all types are known; whether Relu-6 allows them was not checked."}));
}

TEST(ConvertOpset, WhatIsAskedForMustExist) {
  const std::shared_ptr<Model> model = two_nodes();
  EXPECT_THROW(convert_opset(*model, {.version = 0}), Error);
  EXPECT_THROW(convert_opset(*model, {.version = built_in_ops().newest_opset("") + 1}), Error);
  EXPECT_THROW(convert_opset(*model, {.domain = "ai.onnx.ml", .version = 2}), Error);
  EXPECT_THROW(convert_opset(*model, {.domain = "com.nobody", .version = 1}), Error);
  model->opsets[0].version = 999;
  EXPECT_THROW(convert_opset(*model, {.version = 11}), Error);
}

TEST(ConvertOpset, LabelEncoders) {
  using Words = std::vector<std::string>;
  const Tensor words = Tensor::vector(Words{"b", "z", "a"});
  expect_same({"LabelEncoder", 1, {words}, {{"classes_strings", Words{"a", "b", "c"}}}, 1, "ai.onnx.ml"}, 2,
              {}, 0, "ai.onnx.ml");
  expect_same(
      {"LabelEncoder", 1, {int64s({1, 5})}, {{"classes_strings", Words{"a", "b", "c"}}}, 1, "ai.onnx.ml"}, 4,
      {}, 0, "ai.onnx.ml");
  const AttributeList repeated = {{"keys_strings", Words{"a", "b", "a"}}, {"values_int64s", Ints{1, 2, 3}}};
  expect_same({"LabelEncoder", 2, {words}, repeated, 1, "ai.onnx.ml"}, 4, {}, 0, "ai.onnx.ml");
  expect_same({"LabelEncoder", 4, {words}, repeated, 1, "ai.onnx.ml"}, 2, {}, 0, "ai.onnx.ml");
  const AttributeList tensors = {{"keys_tensor", Tensor::vector(Words{"a", "b"})},
                                 {"values_tensor", int64s({7, 8})}};
  expect_same({"LabelEncoder", 4, {words}, tensors, 1, "ai.onnx.ml"}, 2, {}, 0, "ai.onnx.ml");
  const AttributeList with_nan = {{"keys_floats", std::vector<float>{1, NAN}}, {"values_int64s", Ints{7, 8}}};
  expect_same({"LabelEncoder", 2, {floats({1, NAN})}, with_nan, 1, "ai.onnx.ml"}, 4, {}, 0, "ai.onnx.ml");
  EXPECT_NE(refusal({"LabelEncoder", 4, {floats({1, NAN})}, with_nan, 1, "ai.onnx.ml"}, 2, "ai.onnx.ml")
                .find("the key NaN"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::convert_opset_test
