#include "assay/inspect.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "graph/import.h"
#include "inspect/range_extractor.h"
#include "inspect/tactic_use.h"

namespace assay::capability_test {
namespace {

Type row() { return Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(2)}); }

/// x -> Relu a -> Fake b -> Add(b, a) y -> Neg d, which is unused; Fake c from x.
std::shared_ptr<Model> mixed_model() {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 13}};
  Graph& g = *model->graph;
  Value* x = g.add_input("x", row());
  Value *a = g.add_value("a"), *b = g.add_value("b", row()), *y = g.add_value("y"), *d = g.add_value("d");
  Value* w = g.add_constant("w", Tensor::from<float>({1, 2}, std::vector<float>{1, 2}));
  g.add_node("Relu", {x}, {a}, {}, "n0");
  g.add_node("Fake", {a}, {b}, {}, "n1");
  g.add_node("Sum", {b, a, w}, {y}, {}, "n2");
  g.add_node("Neg", {y}, {d}, {}, "n3");
  g.add_node("Fake", {x}, {g.add_value("c", row())}, {}, "n4");
  g.add_node("Relu", {a}, {g.add_value("e", row())}, {{"alpha", 1.0f}}, "n5");
  g.outputs = {y, g.find_value("c"), g.find_value("e")};
  return model;
}

std::string names(const std::vector<Value*>& values) {
  std::string out;
  for (const Value* v : values) out += v->name() + " ";
  return out;
}

TEST(Capability, names_what_cannot_run) {
  const auto model = mixed_model();
  EXPECT_EQ(unsupported_nodes_text(find_unsupported(*model)),
            "===== Summary =====\n"
            "Stack trace  | Operator  | Node  | Reason                                          \n"
            "------------------------------------------------------------------------------------\n"
            "             | Fake      | n1    | the operator Fake of domain 'ai.onnx' is unknown\n"
            "             | Fake      | n4    | the operator Fake of domain 'ai.onnx' is unknown\n"
            "             | Relu      | n5    | Relu-13 has no attribute 'alpha'                \n");
}

TEST(Capability, cuts_the_graph_into_ranges) {
  const auto model = mixed_model();
  const std::vector<UnsupportedNode> unsupported = find_unsupported(*model);
  const std::vector<NodeRange> ranges = partition(*model, unsupported);
  ASSERT_EQ(ranges.size(), 4u);
  EXPECT_EQ(unsupported_ranges_text(ranges, unsupported),
            "===== Summary =====\n"
            "Operator | Count   | Reason                                                                     "
            "         "
            "| Nodes\n"
            "------------------------------------------------------------------------------------------------"
            "------------"
            "-----\n"
            "Fake     |       1 | the operator Fake of domain 'ai.onnx' is unknown                           "
            "         "
            "| [[1, 2]]\n"
            "Fake     |       1 | the operator Fake of domain 'ai.onnx' is unknown | Relu-13 has no "
            "attribute 'alpha' "
            "| [[4, 6]]\n");
  const RangeExtractor extractor(*model);
  const auto first = extractor.extract(ranges[0]), third = extractor.extract(ranges[2]);
  EXPECT_EQ(names(first->graph->inputs) + "-> " + names(first->graph->outputs), "x -> a ");
  EXPECT_EQ(names(third->graph->inputs) + "-> " + names(third->graph->outputs), "b a -> y d ");
  EXPECT_EQ(third->graph->nodes().size(), 2u);
  EXPECT_TRUE(third->graph->find_value("w")->is_constant());
  EXPECT_EQ(model->graph->nodes().size(), 6u);
}

TEST(Capability, parts_have_constant_nodes_of_their_own) {
  const auto model = parse_text(
      "<ir_version: 8, opset_import: [\"\" : 13]> g (float[2] x) => (float[2] y) "
      "{ k = Constant <value_floats = [1.0, 2.0]> () a = Add (x, k) y = Mul (a, k) }",
      "test");
  const RangeExtractor extractor(*model);
  const auto first = extractor.extract({.begin = 0, .end = 2}),
             second = extractor.extract({.begin = 2, .end = 3}),
             alone = extractor.extract({.begin = 0, .end = 1});
  EXPECT_EQ(names(first->graph->inputs) + "-> " + names(first->graph->outputs), "x -> a ");
  EXPECT_EQ(names(second->graph->inputs) + "-> " + names(second->graph->outputs), "a -> y ");
  EXPECT_EQ(second->graph->nodes().front()->op_type, "Constant");
  EXPECT_EQ(names(alone->graph->outputs), "k ");
}

TEST(Capability, parts_bring_what_they_need) {
  Model model;
  model.opsets = {{"", 13}, {"mine", 1}};
  for (const auto& [name, callee] : {std::pair{"Outer", "Inner"}, {"Inner", "Abs"}, {"Other", "Neg"}}) {
    Function& f = model.functions.emplace_back();
    f.domain = "mine";
    f.name = name;
    f.opsets = model.opsets;
    f.body->inputs = {f.body->add_value("in")};
    f.body->outputs = {f.body->add_value("out")};
    f.body->add_node(callee, f.body->inputs, f.body->outputs, {}, "n",
                     std::string(callee) == "Inner" ? "mine" : "");
  }
  Graph& g = *model.graph;
  Value* x = g.add_input("x", row());
  Value* a = g.add_value("a");
  Value* b = g.add_value("b");
  g.add_node("Neg", {x}, {a}, {}, "n0");
  auto branch = std::make_shared<Graph>();
  branch->set_parent(&g);
  branch->outputs = {branch->add_value("o")};
  branch->add_node("Outer", {a}, {branch->outputs[0]}, {}, "inside", "mine");
  g.add_node("If", {g.add_input("c", Type::tensor(DType::kBool, Dims{}))}, {b},
             {{"then_branch", branch}, {"else_branch", branch}}, "n1");
  g.outputs = {b};
  g.quantization_annotations = {{"a", {}}, {"c", {}}};
  const RangeExtractor extractor(model);
  const auto first = extractor.extract({0, 1}), second = extractor.extract({1, 2});
  EXPECT_EQ(names(first->graph->inputs) + "-> " + names(first->graph->outputs), "x -> a ");
  EXPECT_TRUE(first->functions.empty());
  EXPECT_EQ(first->graph->quantization_annotations.size(), 1u);
  EXPECT_EQ(names(second->graph->inputs) + "-> " + names(second->graph->outputs), "c a -> b ");
  ASSERT_EQ(second->functions.size(), 2u);
  EXPECT_EQ(second->functions[1].name, "Inner");
  EXPECT_EQ(second->opsets.size(), 2u);
}

TEST(Capability, looks_into_functions_and_branches) {
  Model model;
  model.opsets = {{"", 13}, {"mine", 1}};
  const auto body = [](Function& f, const char* op, const char* domain) {
    Value* in = f.body->add_value("in");
    Value* out = f.body->add_value("out");
    f.body->inputs = {in};
    f.body->outputs = {out};
    f.body->add_node(op, {in}, {out}, {}, std::string("body_") + op, domain);
  };
  for (const char* name : {"Outer", "Inner", "Endless"}) {
    Function& f = model.functions.emplace_back();
    f.domain = "mine";
    f.name = name;
    f.opsets = {{"", 13}, {"mine", 1}};
  }
  body(model.functions[0], "Inner", "mine");
  body(model.functions[1], "Fake", "");
  body(model.functions[2], "Endless", "mine");
  Graph& g = *model.graph;
  Value* x = g.add_input("x", row());
  g.add_node("Outer", {x}, {g.add_value("y")}, {}, "call", "mine");
  g.add_node("Endless", {x}, {g.add_value("z")}, {}, "loop", "mine");
  auto branch = std::make_shared<Graph>();
  branch->set_parent(&g);
  branch->outputs = {branch->add_value("o")};
  branch->add_node("Nothing", {}, {branch->outputs[0]}, {}, "inside");
  g.add_node("If", {g.add_input("c", Type::tensor(DType::kBool, Dims{}))}, {g.add_value("i")},
             {{"then_branch", branch}, {"else_branch", branch}}, "if");
  g.outputs = {g.find_value("y"), g.find_value("z"), g.find_value("i")};

  const std::vector<UnsupportedNode> found = find_unsupported(model);
  ASSERT_GE(found.size(), 3u);
  EXPECT_EQ(found[0].stack, (std::vector<std::string>{"call (Outer)", "body_Inner (Inner)"}));
  EXPECT_EQ(found[0].name, "body_Fake");
  EXPECT_EQ(found[0].index, 0u);
  EXPECT_EQ(found[1].reason, "local functions call each other without end");
  EXPECT_EQ(found[1].stack, (std::vector<std::string>{"loop (Endless)", "body_Endless (Endless)"}));
  EXPECT_EQ(found[2].name, "inside");
  EXPECT_EQ(found[2].index, 2u);
}

TEST(Capability, tells_fast_tactics_from_plain_evaluation) {
  Model model;
  model.opsets = {{"", 13}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(4), Dim(8), Dim(8)}));
  Value* w = g.add_constant("w", Tensor::zeros(DType::kFloat32, {4, 4, 3, 3}));
  Value *a = g.add_value("a"), *b = g.add_value("b"), *c = g.add_value("c"), *y = g.add_value("y");
  g.add_node("Conv", {x, w}, {a}, {}, "conv");
  g.add_node("Relu", {a}, {b}, {}, "relu");
  g.add_node("Identity", {b}, {c}, {}, "same");
  g.add_node("NonZero", {c}, {y}, {}, "where");
  g.outputs = {y};
  ASSERT_TRUE(find_unsupported(model).empty());
  const Shape shapes[] = {{1, 4, 8, 8}};
  const std::vector<NodeTactics> nodes = plan_tactics(model, shapes);
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0].tactics, std::vector<std::string>{"image_conv"});
  EXPECT_EQ(nodes[1].tactics, std::vector<std::string>{"image_conv"});
  EXPECT_TRUE(nodes[2].tactics.empty());
  EXPECT_EQ(nodes[3].tactics, std::vector<std::string>{"evaluate"});
  EXPECT_EQ(tactics_text(tactic_use(model, nodes, 10)),
            "===== Tactics =====\n"
            "Operator |   Count | Tactic      | Reason                               | Nodes\n"
            "-------------------------------------------------------------------------------\n"
            "Conv     |       1 | image_conv  |                                      | [[10, 11]]\n"
            "Relu     |       1 | image_conv  |                                      | [[11, 12]]\n"
            "Identity |       1 | none needed |                                      | [[12, 13]]\n"
            "NonZero  |       1 | evaluate    | no other tactic serves this operator | [[13, 14]]\n"
            "2 of 4 node(s) run on fast tactics, 1 by plain evaluation, 1 need no step (folded, or a view)");
}

TEST(Capability, DescribesRangesAndWhyOneIsNotPlanned) {
  Model model;
  model.opsets = {{"", 13}};
  Graph& g = *model.graph;
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(4)}));
  Value* open = g.add_input("open", Type::tensor(DType::kFloat32, Dims{Dim::symbol("n")}));
  Value *a = g.add_value("a"), *b = g.add_value("b"), *c = g.add_value("c");
  g.add_node("Relu", {x}, {a}, {}, "relu");
  g.add_node("Nothing", {a}, {b}, {}, "none");
  g.add_node("Neg", {open}, {c}, {}, "neg");
  g.outputs = {b, c};
  const Capability found = capability(model);
  ASSERT_EQ(found.unsupported.size(), 1U);
  ASSERT_EQ(found.ranges.size(), 3U);
  ASSERT_TRUE(found.ranges[0].use.has_value());
  EXPECT_EQ(found.ranges[0].use->rows[0].op, "Relu");
  EXPECT_FALSE(found.ranges[1].nodes.is_supported);
  EXPECT_EQ(found.ranges[1].nodes.op, "Nothing");
  EXPECT_FALSE(found.ranges[2].use.has_value());
  EXPECT_EQ(found.ranges[2].open_input, "open");
  EXPECT_TRUE(found.is_planned());
  const std::string json = capability_json(found);
  for (const char* part : {"\"op\": \"Nothing\"", "\"supported\": false", "\"unknown_shape_of\": \"open\""})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
}

TEST(Capability, looks_into_bodies) {
  Model model;
  model.opsets = {{"", 13}};
  Graph& g = *model.graph;
  Value* c = g.add_input("c", Type::tensor(DType::kBool, Dims{}));
  Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(1), Dim(4)}));
  const auto branch = [&](const char* op) {
    auto b = std::make_shared<Graph>();
    b->set_parent(&g);
    Value *h = b->add_value(std::string(op) + "_h"), *o = b->add_value(std::string(op) + "_o");
    b->add_node(op, {x}, {h}, {}, "first");
    b->add_node("Relu", {h}, {o}, {}, "second");
    b->outputs = {o};
    return b;
  };
  Value *y = g.add_value("y"), *z = g.add_value("z");
  g.add_node("If", {c}, {y}, {{"then_branch", branch("Neg")}, {"else_branch", branch("Relu")}}, "if1");
  g.add_node("Relu", {y}, {z}, {}, "last");
  g.outputs = {z};
  ASSERT_TRUE(find_unsupported(model).empty());
  const Shape shapes[] = {{}, {1, 4}};
  const std::string text = tactics_text(tactic_use(model, plan_tactics(model, shapes)));
  for (const char* line :
       {"Neg      |       1 | pointwise |        | if1::then_branch [[0, 1]]", "if1::then_branch [[1, 2]]",
        "Relu     |       2 | pointwise |        | if1::else_branch [[0, 2]]",
        "2 of 2 node(s) run on fast tactics, 0 by plain evaluation, 0 need no step (folded, or a view); in "
        "bodies "
        "4 of 4 node(s) run on fast tactics, 0 by plain evaluation, 0 need no step (folded, or a view)"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

}  // namespace
}  // namespace assay::capability_test
