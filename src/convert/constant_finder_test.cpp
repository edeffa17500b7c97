#include "convert/constant_finder.h"

#include <gtest/gtest.h>

namespace assay::constant_finder_test {
namespace {

class ConstantFinderTest : public testing::Test {
 protected:
  Value* node(const std::string& op, std::vector<Value*> inputs, AttributeList attributes = {}) {
    Value* y = g.add_value("v" + std::to_string(g.values().size()));
    g.add_node(op, std::move(inputs), {y}, std::move(attributes));
    return y;
  }
  int64_t number(const Value* v) {
    const std::optional<Tensor> t = finder.value(v);
    return t ? t->to_int64()[0] : -1;
  }

  Graph g;
  ConstantFinder finder;
};

TEST_F(ConstantFinderTest, LooksThroughIdentity) {
  std::vector<Value*> chain = {g.add_constant("c", Tensor::scalar(int64_t{7}))};
  for (int i = 0; i < 10; ++i) chain.push_back(node("Identity", {chain.back()}));
  for (const Value* v : chain) EXPECT_EQ(number(v), 7);
  for (const Value* v : chain) EXPECT_EQ(number(v), 7) << "when asked again";
}

TEST_F(ConstantFinderTest, WhatIsNotConstantIsNoConstant) {
  Value* v = g.add_input("x", {});
  EXPECT_EQ(number(v), -1);
  EXPECT_EQ(number(node("Identity", {node("Identity", {v})})), -1);
  EXPECT_EQ(number(node("Relu", {v})), -1);
  EXPECT_EQ(number(nullptr), -1);
  EXPECT_EQ(number(node("Identity", {nullptr})), -1);
}

TEST_F(ConstantFinderTest, SeesWhatAChainBeginsWithNow) {
  Value* begin = node("Relu", {g.add_input("x", {})});
  Value* end = node("Identity", {node("Identity", {begin})});
  EXPECT_EQ(number(end), -1);
  begin->producer()->set_outputs({});
  begin->set_tensor(Tensor::scalar(int64_t{3}));
  EXPECT_EQ(number(end), 3);
  Value* longer = node("Identity", {end});
  EXPECT_EQ(number(longer), 3);
}

TEST_F(ConstantFinderTest, ReadsConstantNodes) {
  EXPECT_EQ(number(node("Identity", {node("Constant", {}, {{"value_int", int64_t{5}}})})), 5);
  Value* overridable = g.add_constant("o", Tensor::scalar(int64_t{1}));
  overridable->is_overridable = true;
  EXPECT_EQ(number(overridable), -1);
}

}  // namespace
}  // namespace assay::constant_finder_test
