#include "assay/transform.h"

#include <gtest/gtest.h>

#include "assay/error.h"
#include "graph/import.h"

namespace assay::poly::transform_test {
namespace {

std::shared_ptr<Model> model(const std::string& nodes) {
  return parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2,3] x) => (float[2,3] y) {\n" + nodes + "\n}\n",
      "test");
}

TEST(SimplifyModel, ReportsAndLeavesTheModelAsItIs) {
  const std::shared_ptr<Model> before = model("a = Identity (x) b = Identity (a) y = Relu (b)");
  const Simplified done = simplify_model(before);
  EXPECT_EQ(before->graph->nodes().size(), 3U);
  ASSERT_EQ(done.model->graph->nodes().size(), 1U);
  EXPECT_EQ(done.model->graph->nodes()[0]->op_type, "Relu");
  EXPECT_FALSE(done.edits.empty());
  EXPECT_FALSE(done.is_proved);
}

TEST(SimplifyModel, Proves) {
  const Simplified done =
      simplify_model(model("a = Identity (x) y = Relu (a)"), {.prove = true, .trials = 3, .seconds = 5});
  EXPECT_TRUE(done.is_proved);
  EXPECT_GE(done.trials, 1);
  EXPECT_TRUE(done.refused.empty());
  EXPECT_EQ(done.model->graph->nodes().size(), 1U);
}

TEST(SimplifyModel, ShapesOfNoInputAreAnError) {
  EXPECT_THROW(simplify_model(model("y = Relu (x)"), {.prove = true, .shapes = {{"z", {Dim(1)}}}}), Error);
}

TEST(ConvertModelOpset, ConvertsACopy) {
  const std::shared_ptr<Model> before = model("y = Softmax (x)");
  const Converted done = convert_model_opset(before, 13);
  EXPECT_EQ(before->opset(), 21);
  EXPECT_EQ(done.model->opset(), 13);
  EXPECT_EQ(done.from, 21);
}

TEST(ConvertModelOpset, NamesWhatCannotBeSaid) {
  try {
    convert_model_opset(model("y = Gelu (x)"), 1);
    FAIL() << "converted";
  } catch (const Error& e) {
    EXPECT_FALSE(std::string(e.what()).empty());
  }
  EXPECT_THROW(convert_model_opset(model("y = Relu (x)"), 1000), Error);
}

}  // namespace
}  // namespace assay::poly::transform_test
