#include "templates/builder.h"

#include <gtest/gtest.h>

#include "templates/conv_net.h"
#include "templates/layers.h"

namespace assay::builder_test {
namespace {

TEST(Scope, NamesModulesAsTheExporterAndTheStateDictDo) {
  const Scope root;
  EXPECT_EQ(root.path(), "");
  EXPECT_EQ(root.key("weight"), "weight");
  const Scope conv = root.child("layer1").item(0).child("conv1");
  EXPECT_EQ(conv.path(), "/layer1/layer1.0/conv1");
  EXPECT_EQ(conv.key("weight"), "layer1.0.conv1.weight");
  const Scope nested = root.child("features").item(3).child("conv").item(0).item(1);
  EXPECT_EQ(nested.path(), "/features/features.3/conv/conv.0/conv.0.1");
  EXPECT_EQ(nested.key("bias"), "features.3.conv.0.1.bias");
  const Scope listed = root.child("encoder").child("layer.11").child("output");
  EXPECT_EQ(listed.path(), "/encoder/layer.11/output");
  EXPECT_EQ(listed.key("bias"), "encoder.layer.11.output.bias");
}

TEST(TemplateBuilder, NumbersRepeatedNodesAndConstants) {
  TemplateBuilder b({}, "test");
  const Scope s = Scope().child("block");
  Value* x = b.input("x", DType::kFloat32, {2});
  x = b.node(s, "Add", {x, b.scalar(s, 1)});
  x = b.node(s, "Add", {x, b.scalar(s, 2)});
  b.output(x, "y", DType::kFloat32, {2});
  const std::shared_ptr<Model> model = b.finish();
  ASSERT_EQ(model->graph->nodes().size(), 2U);
  EXPECT_EQ(model->graph->nodes()[0]->name, "/block/Add");
  EXPECT_EQ(model->graph->nodes()[1]->name, "/block/Add_1");
  EXPECT_EQ(model->graph->nodes()[0]->output(0)->name(), "/block/Add_output_0");
  EXPECT_EQ(model->graph->nodes()[1]->input(1)->name(), "/block/Constant_1_output_0");
  EXPECT_EQ(model->graph->outputs.at(0)->name(), "y");
}

TEST(TemplateBuilder, TellsParametersFromOtherConstants) {
  EXPECT_TRUE(is_parameter_name("layer1.0.conv1.weight"));
  EXPECT_TRUE(is_parameter_name("cls_token"));
  EXPECT_FALSE(is_parameter_name("layer1.0.bn1.running_mean"));
  EXPECT_FALSE(is_parameter_name("layer1.0.bn1.running_var"));
  EXPECT_FALSE(is_parameter_name("/blocks/blocks.0/Constant_output_0"));
}

/// The one node that `build` adds for an opset.
template <typename Build>
std::shared_ptr<Model> in_opset(int64_t opset, Build build) {
  TemplateBuilder b({.opset = opset}, "test");
  build(b, b.input("x", DType::kFloat32, {1, 4, 8}));
  return b.finish();
}

TEST(Layers, TakeTheFormOfTheOpset) {
  const Scope s = Scope().child("s");
  const auto squeeze = [&](TemplateBuilder& b, Value* x) { unsqueeze(b, s, x, {1}); };
  EXPECT_EQ(in_opset(12, squeeze)->graph->nodes()[0]->inputs().size(), 1U);
  EXPECT_NE(in_opset(12, squeeze)->graph->nodes()[0]->find_attribute("axes"), nullptr);
  EXPECT_EQ(in_opset(13, squeeze)->graph->nodes()[0]->inputs().size(), 2U);
  const auto halves = [&](TemplateBuilder& b, Value* x) { split(b, s, x, 1, {2, 2}); };
  EXPECT_NE(in_opset(12, halves)->graph->nodes()[0]->find_attribute("split"), nullptr);
  EXPECT_EQ(in_opset(13, halves)->graph->nodes()[0]->find_attribute("split"), nullptr);
  const auto norm = [&](TemplateBuilder& b, Value* x) { layer_norm(b, s, x, 8, 1e-5F); };
  EXPECT_EQ(in_opset(16, norm)->graph->nodes().size(), 9U);
  EXPECT_EQ(in_opset(17, norm)->graph->nodes().size(), 1U);
  const auto exact = [&](TemplateBuilder& b, Value* x) { gelu(b, s, x); };
  EXPECT_EQ(in_opset(19, exact)->graph->nodes().size(), 5U);
  EXPECT_EQ(in_opset(20, exact)->graph->nodes().size(), 1U);
}

TEST(ConvNet, FoldedNormalisationGivesTheSpreadOfTheExplicitOne) {
  TemplateBuilder b({.seed = 3}, "test");
  const Feature x = image_input(b, "x", 3, 32, 32);
  const Feature y =
      conv_with_folded_norm(b, Scope().child("conv"), x, {.outputs = 16, .kernel = 3, .pad = 1});
  const std::shared_ptr<Model> model = b.finish();
  const Tensor weights = model->graph->find_value("conv.weight")->tensor().aligned();
  const Tensor bias = model->graph->find_value("conv.bias")->tensor().aligned();
  const ChannelMoments again = conv_moments(x.moments, weights, bias, {.kernel = 3, .pad = 1}, 1, 32, 32);
  for (size_t c = 0; c < 16; ++c) {
    EXPECT_NEAR(again.mean[c], y.moments.mean[c], 1e-4) << c;
    EXPECT_NEAR(again.variance[c] / y.moments.variance[c], 1, 1e-3) << c;
    EXPECT_NEAR(y.moments.mean[c], kActivatedNorm.shift, 0.5) << c;
  }
}

TEST(ConvNet, SplittingKeepsTheStatisticsOfTheChannels) {
  TemplateBuilder b({}, "test");
  Feature x = image_input(b, "x", 4, 8, 8);
  x.moments.mean = {1, 2, 3, 4};
  const std::vector<Feature> parts = split_channels(b, Scope().child("s"), x, 2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].channels, 2);
  EXPECT_EQ(parts[1].moments.mean, (std::vector<float>{3, 4}));
  const Feature joined = concat(b, Scope().child("s"), {parts[1], parts[0]});
  EXPECT_EQ(joined.channels, 4);
  EXPECT_EQ(joined.moments.mean, (std::vector<float>{3, 4, 1, 2}));
}

}  // namespace
}  // namespace assay::builder_test
