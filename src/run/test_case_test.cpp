#include "run/test_case.h"

#include <gtest/gtest.h>

#include "assay/io.h"
#include "base/temporary_folder.h"
#include "ops/infer.h"
#include "run/conformance_data.h"

namespace assay::test_case_test {
namespace {

std::shared_ptr<Model> sum_model() {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  const Type floats = Type::tensor(DType::kFloat32, Shape({2}));
  Value *x = m->graph->add_input("x", floats), *y = m->graph->add_input("y", floats);
  Value* s = m->graph->add_value("s", floats);
  m->graph->add_node("Add", {x, y}, {s});
  m->graph->outputs = {s};
  return m;
}

TEST(TestCase, IsReadBackAsItWasSaved) {
  const TemporaryFolder folder;
  const auto model = sum_model();
  // Of x its own numbers, of y others, since these have another shape.
  const TestCase test = make_test_case(
      *model, {{"x", Tensor::vector<float>({1, 2})}, {"y", Tensor::vector<float>({1, 2, 3})}}, {});
  ASSERT_EQ(test.inputs.size(), 2u);
  EXPECT_TRUE(test.inputs[0].tensor.identical(Tensor::vector<float>({1, 2})));
  ASSERT_EQ(test.outputs.size(), 1u) << test.outputs_problem;
  for (int64_t i = 0; i < 2; ++i)
    EXPECT_EQ(test.outputs[0].tensor.data<float>()[i],
              test.inputs[0].tensor.data<float>()[i] + test.inputs[1].tensor.data<float>()[i]);
  const std::string path = folder / "case";
  save_test_case(test, path);
  EXPECT_EQ(conformance_cases(path).size(), 1u);
  const std::vector<std::string> sets = conformance_data_sets(path);
  ASSERT_EQ(sets.size(), 1u);
  const Type floats = Type::tensor(DType::kFloat32, Shape({2}));
  const std::vector<Tensor> inputs = load_conformance_values(sets[0], "input", {floats, floats});
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_TRUE(inputs[1].identical(test.inputs[1].tensor));
  EXPECT_TRUE(load_conformance_values(sets[0], "output", {floats})[0].identical(test.outputs[0].tensor));
  EXPECT_THROW(save_test_case(test, path), Error);  // a folder with a case
}

TEST(TestCase, SaysWhyOutputsAreNotKnown) {
  const auto model = sum_model();
  model->opsets.push_back({"mine", 1});
  model->graph->nodes()[0]->op_type = "Mine";
  model->graph->nodes()[0]->domain = "mine";
  const TestCase test = make_test_case(*model, {}, {});
  EXPECT_TRUE(test.outputs.empty());
  EXPECT_NE(test.outputs_problem, "");
}

}  // namespace
}  // namespace assay::test_case_test
