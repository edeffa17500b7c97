#include "ops/work.h"
#include "ops/op_set.h"

#include <gtest/gtest.h>

namespace assay::work_test {
namespace {

Type floats(const Shape& shape) { return Type::tensor(DType::kFloat32, shape); }

int64_t work(const char* op, const std::vector<Shape>& in, const Shape& out, AttributeList attributes = {}) {
  Graph g;
  std::vector<Value*> inputs;
  for (const Shape& s : in) inputs.push_back(g.add_value("x" + std::to_string(inputs.size()), floats(s)));
  Value* y = g.add_value("y", floats(out));
  return work_estimate(*g.add_node(op, inputs, {y}, std::move(attributes)), built_in_ops().find("", op));
}

TEST(Work, CountsElementsAndWhatEachTakes) {
  EXPECT_EQ(work("Relu", {{2, 3}}, {2, 3}), 12);
  EXPECT_EQ(work("MatMul", {{4, 5}, {5, 6}}, {4, 6}), 20 + 30 + 24 + 4 * 5 * 6);
  EXPECT_EQ(work("MaxPool", {{1, 1, 8}}, {1, 1, 6}, {{"kernel_shape", std::vector<int64_t>{3}}}), 8 + 6 + 18);
  EXPECT_EQ(work("Det", {{10, 10}}, {}), 100 + 1 + 1000);
  EXPECT_EQ(work("NonMaxSuppression", {{1, 100, 4}, {1, 2, 100}}, {}), 400 + 200 + 1 + 2 * 100 * 100);
  // A large prime length takes transforms of a power of two, another no more than its primes.
  EXPECT_GT(work("DFT", {{1, 1009, 1}}, {1, 1009, 2}), 100 * 1009);
  EXPECT_LT(work("DFT", {{1, 1009, 1}}, {1, 1009, 2}), 1009 * 1009);
  EXPECT_LT(work("DFT", {{1, 1024, 1}}, {1, 1024, 2}), 100 * 1024);
}

TEST(Work, NeverOverflowsAndTakesWhatIsNotKnownForNothing) {
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(work("MaxPool", {{big}}, {big}, {{"kernel_shape", std::vector<int64_t>{big, big}}}), INT64_MAX);
  EXPECT_EQ(work("MatMul", {}, {}), 1);
  Graph g;
  EXPECT_EQ(work_estimate(*g.add_node("Det", {}, {}), built_in_ops().find("", "Det")), 0);
  EXPECT_EQ(work_estimate(*g.add_node("NonMaxSuppression", {nullptr, g.add_value("x")}, {}),
                          built_in_ops().find("", "NonMaxSuppression")),
            0);
}

}  // namespace
}  // namespace assay::work_test
