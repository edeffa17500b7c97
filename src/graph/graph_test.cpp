#include "assay/graph.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::graph_test {
namespace {

TEST(Graph, UniqueNamesAreFreeAndFoundFast) {
  Graph g;
  const auto add = [&](std::string_view prefix) { return g.add_value(g.unique_name(prefix))->name(); };
  EXPECT_EQ(add("x"), "x");
  for (int i = 1; i <= 40; ++i) EXPECT_EQ(add("x"), "x_" + std::to_string(i));
  g.add_value("y");
  g.add_value("y_1");
  g.add_value("y_3");
  EXPECT_EQ(add("y"), "y_2");
  Graph inner;
  inner.set_parent(&g);
  EXPECT_EQ(inner.unique_name("y"), "y_4");
  // In quadratic time these would take minutes.
  for (int i = 0; i < 100000; ++i) add("many");
  EXPECT_NE(g.find_value("many_99999"), nullptr);
}

}  // namespace
}  // namespace assay::graph_test
