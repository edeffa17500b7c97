#include "graph/node_order.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::node_order_test {
namespace {

std::string text(const Graph& g) {
  std::string text;
  for (const auto& n : g.nodes()) text += n->name;
  return text;
}

/// Nodes named so that they stand in the order of the letters.
void add_nodes(Graph& g, const std::string& names) {
  Value* v = g.add_input("x", {});
  for (const char c : names) {
    Value* next = g.add_value(std::string("v") + c);
    g.add_node("Relu", {v}, {next}, {}, std::string(1, c));
    v = next;
  }
}

TEST(NodeOrder, PutsNodesInTheirPlaces) {
  Graph g;
  add_nodes(g, "bd");
  Node *b = g.nodes()[0].get(), *d = g.nodes()[1].get();
  NodeOrder order(g);
  Node* e = g.add_node("Relu", {}, {}, {}, "e");
  order.insert(nullptr, *e);
  Node* c = g.add_node("Relu", {}, {}, {}, "c");
  order.insert(d, *c);
  Node* a = g.add_node("Relu", {}, {}, {}, "a");
  order.insert(b, *a);
  EXPECT_EQ(order.first(), a);
  EXPECT_EQ(order.next(b), c);
  EXPECT_EQ(order.previous(d), c);
  EXPECT_EQ(order.previous(a), nullptr);
  EXPECT_EQ(order.next(e), nullptr);
  order.commit();
  EXPECT_EQ(text(g), "abcde");
}

TEST(NodeOrder, RemovesFirstLastAndWhatWasInserted) {
  Graph g;
  add_nodes(g, "abcd");
  Node *a = g.nodes()[0].get(), *d = g.nodes()[3].get();
  NodeOrder order(g);
  Node* x = g.add_node("Relu", {}, {}, {}, "x");
  order.insert(d, *x);
  for (Node* n : {a, x, d}) order.remove(*n);
  EXPECT_EQ(g.find_value("va")->producer(), nullptr);
  EXPECT_TRUE(g.find_value("vc")->consumers().empty());
  order.insert(nullptr, *g.add_node("Relu", {}, {g.find_value("vd")}, {}, "e"));
  order.commit();
  EXPECT_EQ(text(g), "bce");
}

}  // namespace
}  // namespace assay::node_order_test
