#include "graph/uses.h"

#include <gtest/gtest.h>

#include "graph/function_index.h"

namespace assay::uses_test {
namespace {

TEST(ReplaceInputs, LeavesOutputsAlone) {
  Graph g;
  Value *x = g.add_input("x", {}), *z = g.add_input("z", {}), *y = g.add_value("y");
  Node* sum = g.add_node("Sum", {x, z, x}, {y});
  g.outputs = {y, x};
  replace_inputs(*x, z);
  EXPECT_EQ(sum->inputs(), (std::vector<Value*>{z, z, z}));
  EXPECT_TRUE(x->consumers().empty());
  EXPECT_EQ(z->consumers().size(), 3U);
  EXPECT_EQ(g.outputs[1], x);
}

TEST(OutputIndex, KnowsFewAndManyAndNewOnes) {
  for (const int count : {3, 100}) {
    Graph g;
    OutputIndex index;
    for (int i = 0; i < count; ++i) g.outputs.push_back(g.add_value("y" + std::to_string(i)));
    Value* other = g.add_value("other");
    EXPECT_TRUE(index.contains(*g.outputs[0]));
    EXPECT_TRUE(index.contains(*g.outputs.back()));
    EXPECT_FALSE(index.contains(*other));
    g.outputs.push_back(other);
    EXPECT_TRUE(index.contains(*other)) << count;
  }
}

TEST(FunctionIndex, TellsDomainsAndOverloadsApart) {
  Model m;
  for (const char* domain : {"a", "b", "ai.onnx"})
    for (const char* overload : {"", "o"}) {
      Function& f = m.functions.emplace_back();
      f.domain = domain;
      f.name = "F";
      f.overload = overload;
    }
  const FunctionIndex index(m);
  for (const Function& f : m.functions) EXPECT_EQ(index.find(f.domain, f.name, f.overload), &f);
  EXPECT_EQ(index.find("", "F", "o"), &m.functions[5]);
  EXPECT_EQ(index.find("a", "G", ""), nullptr);
  EXPECT_EQ(index.find("c", "F", ""), nullptr);
  Graph g;
  EXPECT_EQ(index.called(*g.add_node("F", {}, {}, {}, "", "b")), &m.functions[2]);
  EXPECT_EQ(index.called(*g.add_node("F", {}, {})), &m.functions[4]);
}

}  // namespace
}  // namespace assay::uses_test
