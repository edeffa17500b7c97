#include "ops/check.h"

#include <gtest/gtest.h>

#include "ops/op_set.h"

namespace assay::check_test {
namespace {

Model importing(std::vector<OpsetImport> opsets) {
  Model m;
  m.opsets = std::move(opsets);
  return m;
}

TEST(NewestOpset, IsTheLastThatChangedAnOperator) {
  EXPECT_GE(built_in_ops().newest_opset(""), 28);
  EXPECT_EQ(built_in_ops().newest_opset("ai.onnx"), built_in_ops().newest_opset(""));
  EXPECT_EQ(built_in_ops().newest_opset("nobody's"), 0);
  for (const OpDef* op : built_in_ops().all())
    EXPECT_LE(op->versions.back().since, built_in_ops().newest_opset(op->domain)) << op->name;
}

TEST(CheckOpsets, AcceptsWhatIsKnownAndForeignDomains) {
  const int64_t newest = built_in_ops().newest_opset("");
  EXPECT_EQ(find_unknown_opset(importing({{"", newest}, {"nobody's", 9999}})), "");
  EXPECT_NO_THROW(check_opsets(importing({{"ai.onnx", 7}})));
}

TEST(CheckOpsets, RefusesVersionsThatAreNewerThanAllItKnows) {
  const int64_t newest = built_in_ops().newest_opset("");
  for (const char* domain : {"", "ai.onnx"}) {
    const Model m = importing({{domain, newest + 1}});
    EXPECT_EQ(find_unknown_opset(m),
              fmt::format("the model imports version {} of 'ai.onnx', but {} is the newest that this build "
                          "knows; where later versions changed an operator, its results would be those of "
                          "version {}",
                          newest + 1, newest, newest));
    EXPECT_THROW(check_opsets(m), Error);
  }
}

TEST(CheckOpsets, LooksIntoLocalFunctions) {
  Model m = importing({{"", 17}});
  m.functions.resize(1);
  m.functions[0].opsets = {{"", 9999}};
  EXPECT_NE(find_unknown_opset(m).find("version 9999"), std::string::npos);
}

TEST(CheckCall, RefusesMoreThanTheFunctionHas) {
  Function f;
  f.name = "f";
  f.body->inputs = {f.body->add_value("a"), f.body->add_value("b")};
  f.body->outputs = {f.body->add_value("c")};
  Graph g;
  Value *x = g.add_value("x"), *y = g.add_value("y"), *z = g.add_value("z");
  EXPECT_NO_THROW(check_call(*g.add_node("f", {x, x}, {y}), f));
  EXPECT_NO_THROW(check_call(*g.add_node("f", {x}, {}), f)) << "parameters may be left out";
  EXPECT_THROW(check_call(*g.add_node("f", {x, x, x}, {z}), f), Error);
  EXPECT_THROW(check_call(*g.add_node("f", {x}, {g.add_value("v"), g.add_value("w")}), f), Error);
}

}  // namespace
}  // namespace assay::check_test
