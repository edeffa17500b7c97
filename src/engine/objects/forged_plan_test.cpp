// Plans with right checksums whose steps no builder has written: every one is refused before anything of it
// runs. Forged parameters of a tactic: its test in engine/tactics.
#include <gtest/gtest.h>

#include <cstring>

#include "assay/builder.h"
#include "base/hash.h"
#include "engine/objects/state.h"
#include "engine/plan/file_bytes.h"
#include "graph/import.h"
#include "ops/infer.h"

namespace assay::forged_plan_test {
namespace {

using engine::Plan;
using engine::Step;

std::string zeros(const std::string& shape, int count, const std::string& name = "w") {
  std::string list;
  for (int i = 0; i < count; ++i) list += i == 0 ? "0" : ", 0";
  return "float[" + shape + "] " + name + " = {" + list + "}";
}

std::string network(const std::string& interface, const std::string& constants, const std::string& nodes) {
  return "<ir_version: 8, opset_import: [\"\" : 18]> g " + interface + " <" + constants + "> { " + nodes +
         " }";
}

class ForgedPlans : public testing::Test {
 protected:
  /// What the plan of the network comes to after `forge(plan, step)` of the step of this tactic.
  template <typename F>
  std::string forged(const std::string& text, std::string_view tactic, F forge) {
    const std::shared_ptr<Model> model = parse_text(text, "network");
    infer_shapes(*model);
    engine::SavedEngine saved =
        Builder(runtime).build_engine(model, {.optimization_level = 0, .optimize = false})->state().saved;
    const auto plan = std::make_shared<Plan>(*saved.plans.at(0).plan);
    const auto step = std::find_if(plan->steps.begin(), plan->steps.end(),
                                   [&](const Step& s) { return s.tactic == tactic; });
    if (step == plan->steps.end()) return "no step of it";
    const std::string before = run(saved);
    EXPECT_EQ(before, "it runs");
    forge(*plan, *step);
    saved.plans[0].plan = plan;
    return run(saved);
  }
  std::string run(const engine::SavedEngine& saved) {
    try {
      const auto e = runtime.deserialize_engine(engine::serialize_engine(saved));
      std::vector<Tensor> inputs;
      for (const IoTensor& t : e->inputs())
        inputs.push_back(Tensor::zeros(t.type.dtype, *known_shape(*t.type.dims)));
      e->create_execution_context()->infer(inputs);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      return error.what();
    }
    return "it runs";
  }

  Runtime runtime{{.threads = 1}};
};

#define EXPECT_REFUSED(text, tactic, forge, sentence)                            \
  do {                                                                           \
    const std::string said = forged(text, tactic, forge);                        \
    EXPECT_NE(said.find(sentence), std::string::npos) << tactic << ": " << said; \
  } while (false)

/// Found by fuzzing: a blocked layout has room for channels that the tensor does not have.
TEST_F(ForgedPlans, WholeTensorsInOtherLayouts) {
  const std::string text = network("(float[1,1,4,4] x) => (float[1,1,4,4] y)", "",
                                   "h = Hardmax <axis = 1> (x) y = Hardmax <axis = 1> (h)");
  const auto forge = [](Plan& plan, Step& step) {
    engine::PlanValue& v = plan.values.at(static_cast<size_t>(step.outputs[0]));
    v.layout = engine::Layout{8};
    plan.arena_bytes += 1 << 16;
  };
  EXPECT_REFUSED(text, "evaluate", forge, "a step on whole tensors has 'h' in blocked8");
}

TEST_F(ForgedPlans, OperandsThatAreMissingOrOtherwise) {
  const std::string sum = network("(float[3,4] x, float[4] b) => (float[3,4] y)", "int64[2] size = {3, 4}",
                                  "s = Add (x, b) e = CenterCropPad (s, size) y = Mul (e, x)");
  EXPECT_REFUSED(
      sum, "pointwise", [](Plan&, Step& s) { s.inputs[0] = -1; }, "input 0 is left out");
  EXPECT_REFUSED(
      sum, "pointwise", [](Plan&, Step& s) { s.inputs.clear(); }, "it has 0 inputs");
  EXPECT_REFUSED(
      sum, "pointwise", [](Plan&, Step& s) { s.outputs.push_back(s.outputs[0]); },
      "two of its outputs overlap");
  EXPECT_REFUSED(
      sum, "pointwise",
      [](Plan& p, Step& s) { p.values[static_cast<size_t>(s.outputs[0])].dtype = DType::kInt32; },
      "'s' is int32");
  EXPECT_REFUSED(
      sum, "pointwise", [](Plan&, Step& s) { s.parameters = {}; }, "is missing or of another kind");
  EXPECT_REFUSED(
      sum, "evaluate", [](Plan&, Step& s) { s.networks.clear(); }, "it has 0 networks");
  EXPECT_REFUSED(
      sum, "evaluate", [](Plan&, Step& s) { s.inputs.pop_back(); }, "it has 1 inputs and 1 outputs for");
  EXPECT_REFUSED(
      sum, "evaluate", [](Plan&, Step& s) { s.tactic = "network"; }, "its network 0 has");
  EXPECT_REFUSED(
      sum, "evaluate", [](Plan&, Step& s) { s.tactic = "control"; }, "is missing or of another kind");
}

TEST_F(ForgedPlans, MemoryOfTwoThings) {
  const std::string chain =
      network("(float[3,4] x) => (float[3,4] y)", zeros("1", 1),
              "a = Transpose (x) b = Transpose (a) c = Softmax <axis = 0> (b) y = Neg (c)");
  // The second transposition reads what it writes.
  EXPECT_REFUSED(
      chain, "softmax",
      [](Plan& p, Step& s) {
        Step& second = *(&s - 1);
        p.values[static_cast<size_t>(second.outputs[0])].offset =
            p.values[static_cast<size_t>(second.inputs[0])].offset;
      },
      "lies in memory that it writes");
  EXPECT_REFUSED(
      chain, "softmax", [](Plan& p, Step& s) { std::swap(*(&s - 1), p.steps[0]); }, "holds something else");
  EXPECT_REFUSED(
      chain, "strided_copy",
      [](Plan&, Step& s) {
        s.placements.push_back({0, 0, true});
      },
      "it cannot have inputs placed in its output");
  // Whose end no number can say.
  constexpr int64_t kFar = (INT64_MAX / 64) * 64;
  EXPECT_REFUSED(
      chain, "softmax", [](Plan& p, Step& s) { p.values[static_cast<size_t>(s.outputs[0])].offset = kFar; },
      "takes 48 bytes from byte 9223372036854775744 of");
  EXPECT_REFUSED(
      chain, "softmax",
      [](Plan&, Step& s) {
        s.scratch_offset = kFar;
        s.scratch_bytes = 64;
      },
      "takes 64 bytes from byte 9223372036854775744 of");
}

/// Views are steps of no plan: their tactic has no kernel that could be made.
TEST_F(ForgedPlans, StepsOfTacticsWithoutKernels) {
  const std::string sum =
      network("(float[3,4] x, float[4] b) => (float[3,4] y)", zeros("1", 1), "y = Add (x, b)");
  for (const char* tactic : {"view", "no such tactic", ""})
    EXPECT_REFUSED(
        sum, "pointwise", [&](Plan&, Step& s) { s.tactic = tactic; }, "this build has no tactic named");
}

/// FlatBuffers' verifier looks at where a list's length lies, not at where its numbers do.
TEST_F(ForgedPlans, ListsThatAreMisaligned) {
  const std::shared_ptr<Model> model =
      parse_text(network("(float[3,4] x) => (float[4,3] y)", zeros("1", 1), "y = Transpose (x)"), "network");
  infer_shapes(*model);
  const std::string whole =
      Builder(runtime).build_engine(model, {.optimization_level = 0, .optimize = false})->serialize();
  engine::FileHeader header;
  std::memcpy(&header, whole.data(), sizeof header);
  size_t misaligned = 0;
  // Somewhere there is the offset of a list of 8-byte numbers: four bytes further it points to another.
  for (size_t at = sizeof header; at + 4 <= sizeof header + header.structure_bytes; at += 4) {
    std::string plan = whole;
    uint32_t offset;
    std::memcpy(&offset, plan.data() + at, sizeof offset);
    offset += 4;
    std::memcpy(plan.data() + at, &offset, sizeof offset);
    engine::FileHeader changed = header;
    changed.structure_hash = hash_of(std::string_view(plan).substr(sizeof header, header.structure_bytes));
    changed.header_hash = engine::header_hash_of(changed);
    std::memcpy(plan.data(), &changed, sizeof changed);
    try {
      runtime.deserialize_engine(plan);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << at << ": " << error.what();
      if (std::string_view(error.what()).find("a list of numbers is misaligned") != std::string_view::npos)
        ++misaligned;
    }
  }
  EXPECT_GT(misaligned, 0U);
}

}  // namespace
}  // namespace assay::forged_plan_test
