#include "engine/build/plan_builder.h"

#include <gtest/gtest.h>

#include <oneapi/dnnl/dnnl_types.h>

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
