#include "graph/distinct_names.h"

#include <gtest/gtest.h>

#include "assay/edit.h"
#include "graph/import.h"

namespace assay::distinct_names_test {
namespace {

using Names = std::vector<std::string>;

Names node_names(const Graph& g) {
  Names list;
  for (const auto& n : g.nodes()) list.push_back(n->name);
  return list;
}

std::shared_ptr<Model> with_branch() {
  return parse_text(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, bool c) => (float[2] z) {
  [n] y = If (c) <then_branch = t () => (float[2] h) { [a] h = Relu (x) }, else_branch = e () => (float[2] k) { [b] k = Neg (x) }>
  [m] z = Abs (y)
})",
                    "text");
}

TEST(DistinctNames, ANewNodeGivesWayToTheOneThatHasTheName) {
  const auto model = with_branch();
  Graph& g = *model->graph;
  DistinctNames names(*model);
  for (const char* name : {"a", "m", "m"})
    g.insert_node(g.nodes()[0].get(), "Neg", {g.inputs[0]}, {g.add_value(g.unique_name("v"))}, {}, name);
  names.settle(*model);
  EXPECT_EQ(node_names(g), (Names{"m_1", "m_2", "a_1", "n", "m"}));
}

TEST(DistinctNames, AValueDoesNotHideAnother) {
  const auto model = with_branch();
  Graph& g = *model->graph;
  DistinctNames names(*model);
  // Free where it stands, but a branch has it.
  Value* v = g.add_value(g.unique_name("h"));
  EXPECT_EQ(v->name(), "h");
  g.insert_node(g.nodes()[0].get(), "Neg", {g.inputs[0]}, {v});
  names.settle(*model);
  EXPECT_EQ(v->name(), "h_1");
  EXPECT_NE(subgraphs(g)[0]->find_value("h") != nullptr ? subgraphs(g)[0]->find_value("h")
                                                        : subgraphs(g)[1]->find_value("h"),
            nullptr);
}

TEST(DistinctNames, WhatClashedBeforeStays) {
  const auto model = with_branch();
  Graph& g = *model->graph;
  g.nodes()[1]->name = "n";
  DistinctNames names(*model);
  names.settle(*model);
  EXPECT_EQ(node_names(g), (Names{"n", "n"}));
}

}  // namespace
}  // namespace assay::distinct_names_test
