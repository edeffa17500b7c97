#include "transform/mark_outputs.h"

#include <gtest/gtest.h>

#include "base/log.h"

#include "assay/error.h"

namespace assay::mark_outputs_test {
namespace {

using Names = std::vector<std::string>;

/// x -> Relu -> a -> Split -> b, (left out), c -> ... with a Constant on the side; the output is c.
struct MarkOutputs : testing::Test {
  MarkOutputs() {
    Graph& g = *model.graph;
    Value* x = g.add_input("x", Type::tensor(DType::kFloat32, Dims{4}));
    Value* a = g.add_value("a");
    Value* k = g.add_value("k");
    Value* b = g.add_value("b");
    Value* c = g.add_value("c");
    g.add_node("Relu", {x}, {a});
    g.add_node("Constant", {}, {k});
    g.add_node("Split", {a, k}, {b, nullptr, c});
    g.outputs = {c};
  }
  Names outputs() const {
    Names names;
    for (const Value* v : model.graph->outputs) names.push_back(v->name());
    return names;
  }
  Model model;
};

TEST_F(MarkOutputs, AllMeansEveryNodeResultButConstants) {
  mark_all_outputs(model);
  EXPECT_EQ(outputs(), (Names{"a", "b", "c"}));
}

TEST_F(MarkOutputs, AllSaysWhatBodiesKeepToThemselves) {
  Graph& g = *model.graph;
  Value *x = g.find_value("x"), *y = g.add_value("y");
  auto branch = std::make_shared<Graph>();
  branch->set_parent(&g);
  Value *h = branch->add_value("h"), *o = branch->add_value("o");
  branch->add_node("Neg", {x}, {h});
  branch->add_node("Relu", {h}, {o});
  branch->outputs = {o};
  g.add_node("Loop", {}, {y}, {{"body", branch}}, "loop");
  const log::Capture capture;
  mark_all_outputs(model);
  EXPECT_EQ(outputs(), (Names{"a", "b", "c", "y"}));
  EXPECT_EQ(capture.out(),
            "[W] `mark all` leaves out 2 tensor(s) in the bodies of 1 node(s): 'loop' (Loop).\n"
            "    Name them to see them, as in: loop::body::h\n");
}

TEST_F(MarkOutputs, NamesKeepTheirOrderAndCountOnce) {
  mark_outputs(model, Names{"c", "x", "c", "a"});
  EXPECT_EQ(outputs(), (Names{"c", "x", "a"}));
}

TEST_F(MarkOutputs, OutputsGetTypesAndInnerValuesDoNot) {
  model.opsets = {{"", 17}};
  Graph& g = *model.graph;
  Value* a = g.find_value("a");
  Value* d = g.add_value("d");
  Value* e = g.add_value("e");
  g.add_node("Neg", {a}, {d});
  g.add_node("Unheard", {d}, {e});
  mark_outputs(model, Names{"d", "e"});
  EXPECT_EQ(d->type, Type::tensor(DType::kFloat32, Dims{4}));
  EXPECT_EQ(a->type.kind, Type::Kind::kUnknown);
  EXPECT_EQ(e->type.kind, Type::Kind::kUnknown);
  mark_all_outputs(model);
  EXPECT_EQ(a->type, Type::tensor(DType::kFloat32, Dims{4}));
}

TEST_F(MarkOutputs, ExcludedOutputsGo) {
  mark_all_outputs(model);
  unmark_outputs(model, Names{"b"});
  EXPECT_EQ(outputs(), (Names{"a", "c"}));
}

TEST_F(MarkOutputs, UnknownNamesAreAllNamed) {
  try {
    mark_outputs(model, Names{"a", "A1", "zz", "zz"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "The following outputs were not found in the model: {'A1', 'zz'}");
    EXPECT_STREQ(
        e.what(),
        "The following outputs were not found in the model: {'A1', 'zz'}. Similar names are: ['a'].");
  }
  EXPECT_EQ(outputs(), (Names{"c"})) << "a refused change changes nothing";
  EXPECT_THROW(unmark_outputs(model, Names{"nope"}), Error);
}

}  // namespace
}  // namespace assay::mark_outputs_test
