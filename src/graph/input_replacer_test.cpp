#include "graph/input_replacer.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::input_replacer_test {
namespace {

TEST(InputReplacer, ReplacesInNodesWithManyInputs) {
  Graph g;
  Value *x = g.add_input("x", {}), *other = g.add_input("other", {});
  std::vector<Value*> inputs;
  for (int i = 0; i < 200; ++i) inputs.push_back(g.add_input("x" + std::to_string(i), {}));
  Node* sum = g.add_node("Sum", inputs, {});
  InputReplacer replacer;
  for (size_t i = 0; i < inputs.size(); i += 4) replacer.replace(*inputs[i], x);
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(sum->input(i), i % 4 == 0 ? x : inputs[i]) << i;
  EXPECT_EQ(x->consumers().size(), 50U);
  sum->set_input(1, inputs[2]);  // by other code
  replacer.replace(*inputs[2], other);
  EXPECT_EQ(sum->input(1), other);
  EXPECT_EQ(sum->input(2), other);
  replacer.replace(*x, other);
  EXPECT_EQ(other->consumers().size(), 52U);
  EXPECT_TRUE(x->consumers().empty());
}

}  // namespace
}  // namespace assay::input_replacer_test
