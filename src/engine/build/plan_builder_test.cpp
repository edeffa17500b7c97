#include "engine/build/plan_builder.h"

#include <gtest/gtest.h>

#include <oneapi/dnnl/dnnl_types.h>

#include <cstring>

#include "templates/templates.h"

namespace assay::engine::plan_builder_test {
namespace {

std::shared_ptr<const Plan> plan_of(const Model& model, bool has_data) {
  BuildConfig config = default_config(2);
  config.has_data = has_data;
  std::vector<Shape> shapes;
  for (const Value* v : model.graph->inputs) shapes.push_back(*known_shape(*v->type.dims));
  return PlanBuilder(model, config).build(shapes);
}

/// What inspect capability asks for needs no packed weights, and is told the same.
TEST(PlanBuilder, APlanWithoutDataIsThePlan) {
  for (const char* name : {"mobilenet-v2", "lstm", "mlp"}) {
    const auto model = build_template(find_template(name), {.weights = TemplateWeights::kShapesOnly});
    const auto full = plan_of(*model, true), bare = plan_of(*model, false);
    ASSERT_EQ(full->steps.size(), bare->steps.size()) << name;
    for (size_t i = 0; i < full->steps.size(); ++i) {
      const Step &a = full->steps[i], &b = bare->steps[i];
      EXPECT_EQ(a.tactic, b.tactic) << name << ", step " << i;
      EXPECT_EQ(a.inputs, b.inputs) << name << ", step " << i;
      EXPECT_EQ(a.outputs, b.outputs) << name << ", step " << i;
      EXPECT_EQ(a.origins, b.origins) << name << ", step " << i;
      EXPECT_EQ(a.refusals.size(), b.refusals.size()) << name << ", step " << i;
    }
    EXPECT_EQ(full->arena_bytes, bare->arena_bytes) << name;
    ASSERT_EQ(full->constants.size(), bare->constants.size()) << name;
    ASSERT_FALSE(full->constants.empty()) << name;
    for (size_t i = 0; i < full->constants.size(); ++i) {
      EXPECT_EQ(full->constants[i].name, bare->constants[i].name) << name;
      EXPECT_TRUE(full->constants[i].tensor.defined()) << name;
      EXPECT_FALSE(bare->constants[i].tensor.defined()) << name;
    }
  }
}

/// The last plan is that of every build, bit by bit, and the network's large weights are gone with it.
TEST(PlanBuilder, TheLastPlanIsTheSameAndTakesTheWeights) {
  for (const char* name : {"mobilenet-v2", "lstm", "mlp", "voice-activity"}) {
    const auto model = build_template(find_template(name), {});
    std::vector<Shape> shapes;
    for (const Value* v : model->graph->inputs) shapes.push_back(*known_shape(*v->type.dims));
    PlanBuilder builder(*model, default_config(2));
    std::vector<size_t> none;
    const auto first = builder.build(shapes), last = builder.build_last(shapes, {}, none);
    ASSERT_EQ(first->steps.size(), last->steps.size()) << name;
    for (size_t i = 0; i < first->steps.size(); ++i) {
      EXPECT_EQ(first->steps[i].tactic, last->steps[i].tactic) << name << ", step " << i;
      EXPECT_EQ(first->steps[i].inputs, last->steps[i].inputs) << name << ", step " << i;
    }
    ASSERT_EQ(first->constants.size(), last->constants.size()) << name;
    for (size_t i = 0; i < first->constants.size(); ++i) {
      const Tensor &a = first->constants[i].tensor, &b = last->constants[i].tensor;
      ASSERT_EQ(a.nbytes(), b.nbytes()) << name << ": " << first->constants[i].name;
      EXPECT_TRUE(a.nbytes() == 0 || std::memcmp(a.data(), b.data(), a.nbytes()) == 0)
          << first->constants[i].name;
    }
    if (std::string_view(name) == "voice-activity") continue;  // its weights are in the branches of an If
    for (const auto& v : builder.canonical().graph->values())
      EXPECT_LT(v->tensor().nbytes(), size_t{4096}) << name << ": " << v->name() << " is still there";
    for (const Value* v : model->graph->inputs) EXPECT_FALSE(v->tensor().defined());
  }
}

/// A processor with AVX2 and VNNI got blocks of 16, for which oneDNN has no kernels without AVX-512.
TEST(PlanBuilder, BlocksAreAsWideAsVectors) {
  for (const int isa : {dnnl_cpu_isa_sse41, dnnl_cpu_isa_avx, dnnl_cpu_isa_avx2, dnnl_cpu_isa_avx2_vnni})
    EXPECT_EQ(channel_block(isa), 8) << isa;
  for (const int isa : {dnnl_cpu_isa_avx512_core, dnnl_cpu_isa_avx512_core_vnni,
                        dnnl_cpu_isa_avx512_core_bf16, dnnl_cpu_isa_avx512_core_amx})
    EXPECT_EQ(channel_block(isa), 16) << isa;
}

}  // namespace
}  // namespace assay::engine::plan_builder_test
