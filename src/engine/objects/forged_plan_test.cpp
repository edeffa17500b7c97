// Plans with right checksums whose steps no builder has written: every one is refused before anything of it
// runs.
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

/// Sets number `i` of a list.
auto set(std::string name, size_t i, int64_t number) {
  return [=](Plan&, Step& s) {
    std::vector<int64_t> list = s.parameters.numbers(name);
    list.at(i) = number;
    s.parameters.set(name, list);
  };
}
auto set(std::string name, int64_t number) {
  return [=](Plan&, Step& s) { s.parameters.set(name, number); };
}

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

TEST_F(ForgedPlans, ProductsOfIntegers) {
  const std::string product =
      network("(uint8[3,4] q, uint8 z) => (int32[3,5] y)",
              "int8[4,5] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}",
              "y = MatMulInteger (q, w, z)");
  EXPECT_REFUSED(product, "integer_matmul", set("m", 4), "does not have 16 elements");
  EXPECT_REFUSED(product, "integer_matmul", set("n", 300), "elements");
  EXPECT_REFUSED(product, "integer_matmul", set("k", 1 << 20), "its parameter 'k' is 1048576");
  EXPECT_REFUSED(
      product, "integer_matmul", [](Plan&, Step& s) { s.scratch_bytes = 64; },
      "it has 64 bytes of scratch memory");
  EXPECT_REFUSED(
      product, "integer_matmul", [](Plan&, Step& s) { std::swap(s.inputs[0], s.inputs[2]); }, "elements");
  const std::string convolution =
      network("(uint8[1,4,3,3] q, uint8 z) => (float[1,2,3,3] y)",
              "int8[2,2,1,1] w = {1, 2, 3, 4}, int32[1,2,1,1] b = {5, 6}",
              "i = ConvInteger <group = 2> (q, w, z) j = Add (i, b) y = Cast <to = 1> (j)");
  EXPECT_REFUSED(convolution, "integer_conv", set("groups", 1), "elements");
  EXPECT_REFUSED(convolution, "integer_conv", set("groups", 3), "channels have no 3 groups");
  EXPECT_REFUSED(convolution, "integer_conv", set("depthwise", 1), "it has 2 channels of 4");
  EXPECT_REFUSED(
      convolution, "integer_conv", [](Plan&, Step& s) { s.inputs[3] = s.inputs[2]; }, "uint8");
  EXPECT_REFUSED(
      convolution, "integer_conv",
      [](Plan& p, Step& s) { p.values.at(static_cast<size_t>(s.outputs[0])).dtype = DType::kInt32; },
      "it adds to sums that it gives");
  EXPECT_REFUSED(
      convolution, "integer_conv", [](Plan&, Step& s) { s.scratch_bytes = 64; },
      "it has 64 bytes of scratch memory");
  const std::string quantized = network("(float[3,4] x) => (uint8[3,4] y, float s, uint8 z)", "",
                                        "y, s, z = DynamicQuantizeLinear (x)");
  EXPECT_REFUSED(
      quantized, "dynamic_quantize", [](Plan&, Step& s) { std::swap(s.outputs[0], s.outputs[2]); },
      "it gives () in row of");
}

TEST_F(ForgedPlans, QuantizedRecurrences) {
  const auto levels = [](const char* name, int k) {
    std::string list = "1";
    for (int i = 1; i < k * 12; ++i) list += fmt::format(",{}", i % 100);
    return fmt::format("int8[1,{},12] {} = {{{}}}", k, name, list);
  };
  const std::string lstm = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 18, \"com.microsoft\" : 1]> g (float[2,1,4] x) => "
      "(float[2,1,1,3] "
      "y) <{}, {}, float[1] s = {{0.01}}, int8[1] z = {{2}}> {{ y = com.microsoft.DynamicQuantizeLSTM "
      "<hidden_size = 3> (x, w, r, , , , , , s, z, s, z) }}",
      levels("w", 4), levels("r", 3));
  EXPECT_REFUSED(lstm, "quantized_lstm", set("sizes", 0, 3), "does not have 12 elements");
  EXPECT_REFUSED(lstm, "quantized_lstm", set("sizes", 3, 40), "does not have");
  EXPECT_REFUSED(lstm, "quantized_lstm", set("sizes", 4, 2), "inputs for 2 directions");
  EXPECT_REFUSED(lstm, "quantized_lstm", set("sizes", 2, 1 << 20), "may exceed 32 bits");
  EXPECT_REFUSED(lstm, "quantized_lstm", set("lanes", 3), "its weights are in blocks of 3");
  EXPECT_REFUSED(lstm, "quantized_lstm", set("functions", 1, 11), "functions");
  EXPECT_REFUSED(lstm, "quantized_lstm", set("flags", 2, 1), "is left out");
  EXPECT_REFUSED(
      lstm, "quantized_lstm", [](Plan&, Step& s) { s.parameters.set("clip", -1.0); },
      "its sums are clipped at -1");
  EXPECT_REFUSED(
      lstm, "quantized_lstm", [](Plan&, Step& s) { s.scratch_bytes = 64; },
      "it has 64 bytes of scratch memory");
}

TEST_F(ForgedPlans, WeightsOfAFewBits) {
  const std::string product =
      "<ir_version: 8, opset_import: [\"\" : 18, \"com.microsoft\" : 1]> g (float[6,20] x) => (float[6,2] y) "
      "<uint8[2,1,16] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, "
      "10, "
      "11, 12, 13, 14, 15, 16}, float[2] s = {0.5, 0.25}, uint8[2] z = {3, 4}> { y = "
      "com.microsoft.MatMulNBits "
      "<K = 20, N = 2, bits = 4, block_size = 32> (x, w, s, z) }";
  EXPECT_EQ(forged(product, "nbits_matmul", set("bits", 4)), "it runs");
  EXPECT_REFUSED(product, "nbits_matmul", set("bits", 3), "it has 3 bits in blocks of 32");
  EXPECT_REFUSED(product, "nbits_matmul", set("bits", 8), "does not have 64 elements");
  EXPECT_REFUSED(product, "nbits_matmul", set("block", 48), "in blocks of 48");
  EXPECT_REFUSED(product, "nbits_matmul", set("block", int64_t{1} << 40), "its parameter 'block' is");
  EXPECT_REFUSED(product, "nbits_matmul", set("m", INT64_MAX), "its parameter 'm' is");
  EXPECT_REFUSED(product, "nbits_matmul", set("m", 7), "does not have 140 elements");
  EXPECT_REFUSED(product, "nbits_matmul", set("k", 33), "elements");
  EXPECT_REFUSED(product, "nbits_matmul", set("n", 3), "elements");
  EXPECT_REFUSED(
      product, "nbits_matmul", [](Plan&, Step& s) { s.scratch_bytes = 64; },
      "it has 64 bytes of scratch memory");
  EXPECT_REFUSED(
      product, "nbits_matmul", [](Plan&, Step& s) { s.inputs.resize(3); }, "inputs");
}

TEST_F(ForgedPlans, ScoresOfRows) {
  const std::string scores =
      "<ir_version: 8, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 3]> g (float[2,2] x) => (float[2,1] y, "
      "float[2,2] "
      "r) { y = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0]> (x) r = ai.onnx.ml.Scaler <scale = "
      "[2.0], "
      "offset = [1.0]> (x) }";
  EXPECT_REFUSED(
      scores, "row_scores",
      [](Plan& plan, Step& s) {
        for (const Step& other : plan.steps)
          if (other.tactic == "evaluate") s.networks = other.networks;
      },
      "it cannot score rows by");
  EXPECT_REFUSED(
      scores, "row_scores", [](Plan&, Step& s) { s.networks.clear(); }, "it has 0 networks");
}

TEST_F(ForgedPlans, NumbersThatDoNotFitTheOperands) {
  const std::string conv = network("(float[1,8,4,4] x) => (float[1,16,4,4] y)", zeros("16,8,3,3", 1152),
                                   "y = Conv <pads = [1, 1, 1, 1]> (x, w)");
  EXPECT_REFUSED(conv, "dnnl_conv", set("strides", 0, 0), "its parameter 'strides' holds 0");
  EXPECT_REFUSED(conv, "dnnl_conv", set("strides", 0, 2), "oneDNN has no such kernel");
  EXPECT_REFUSED(conv, "dnnl_conv", set("weights", 1, 9), "weights (16, 9, 3, 3) are not for");
  EXPECT_REFUSED(conv, "dnnl_conv", set("weights", 2, 300), "the packed weights are fewer");
  const std::string deconv =
      network("(float[1,8,3] x) => (float[1,4,5] y)", zeros("8,4,3", 96), "y = ConvTranspose (x, w)");
  EXPECT_REFUSED(deconv, "dnnl_deconv", set("groups", 3), "its parameter 'weights' has 3 numbers");
  const std::string pool = network("(float[1,8,4,4] x) => (float[1,8,2,2] y)", zeros("1", 1),
                                   "y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)");
  EXPECT_REFUSED(pool, "dnnl_pool", set("kernel", 0, 100), "its windows do not fit");
  const std::string gemv =
      network("(float[1,16] x) => (float[1,8] y)", zeros("16,8", 128), "y = MatMul (x, w)");
  EXPECT_REFUSED(gemv, "gemv", set("n", 9), "does not have 144 elements");
  EXPECT_REFUSED(gemv, "gemv", set("m", -1), "its parameter 'm' is -1");
  const std::string product =
      network("(float[2,3,4] a, float[2,4,5] b) => (float[2,3,5] y)", zeros("1", 1), "y = MatMul (a, b)");
  EXPECT_REFUSED(product, "dnnl_matmul", set("a_strides", 0, 5), "are not those of a dense tensor");
  EXPECT_REFUSED(product, "dnnl_matmul", set("out_shape", 0, int64_t{1} << 60),
                 "its sizes are beyond any memory");
}

TEST_F(ForgedPlans, TransposesOfBlocks) {
  const std::string text =
      network("(float[1,32,6,5] x) => (float[1,6,5,32] y)", zeros("32,1,7,7", 1568),
              "c = Conv <group = 32, pads = [3, 3, 3, 3]> (x, w) y = Transpose <perm = [0, 2, 3, 1]> (c)");
  EXPECT_REFUSED(text, "blocked_transpose", set("perm", 1, 3), "is not axis");
  EXPECT_REFUSED(text, "blocked_transpose", set("perm", 1, 4), "perm");
  EXPECT_REFUSED(text, "blocked_transpose", set("perm", 3, 0), "is not axis");
}

TEST_F(ForgedPlans, WalksThatLeaveTheirOperands) {
  const std::string moves = network("(float[3,4] x) => (float[4,3] y)", zeros("1", 1), "y = Transpose (x)");
  EXPECT_REFUSED(moves, "strided_copy", set("strides", 0, 5), "it would leave the 12 elements");
  EXPECT_REFUSED(moves, "strided_copy", set("offsets", 0, -1), "it would leave the 12 elements");
  EXPECT_REFUSED(moves, "strided_copy", set("strides", 1, INT64_MAX), "it would leave the 12 elements");
  const std::string sum =
      network("(float[3,4] x, float[4] b) => (float[3,4] y)", zeros("1", 1), "y = Add (x, b)");
  EXPECT_REFUSED(sum, "pointwise", set("operand_strides", 2, 4), "it would leave the 4 elements");
  EXPECT_REFUSED(sum, "pointwise", set("arguments", 0, 7), "reads register 7 before anything writes it");
  EXPECT_REFUSED(sum, "pointwise", set("domain", 0, 300), "its domain is not that of");
  EXPECT_REFUSED(sum, "pointwise", set("operand_registers", 0, 1), "Add does not take its operands' types");
  EXPECT_REFUSED(
      sum, "pointwise",
      [](Plan&, Step& s) {
        s.parameters.set("operand_registers", std::vector<int64_t>{2, 2});
      },
      "'x' is float32");
  EXPECT_REFUSED(
      sum, "pointwise", [](Plan&, Step& s) { s.parameters.set("program", std::vector<std::string>{"Less"}); },
      "'y' is float32");
  const std::string gather =
      network("(float[3,4] x, int64[2] i) => (float[2,4] y)", zeros("1", 1), "y = Gather <axis = 0> (x, i)");
  EXPECT_REFUSED(gather, "gather", set("extent", 4), "it picks 2 rows of 16 bytes");
  // A constant table is there as its bytes.
  const std::string table = network("(int64[2] i) => (float[2,2] y)", "float[3,2] t = {1, 2, 3, 4, 5, 6}",
                                    "y = Gather <axis = 0> (t, i)");
  EXPECT_EQ(forged(table, "gather", [](Plan&, Step&) {}), "it runs");
  EXPECT_REFUSED(table, "gather", set("extent", 4), "it picks 2 rows of 8 bytes");
  const std::string pad =
      network("(float[3,4] x) => (float[5,4] y)", "int64[4] p = {1, 0, 1, 0}", "y = Pad (x, p)");
  EXPECT_REFUSED(pad, "pad", set("pads", 0, 9), "pads 9, 0, 1, 0 do not make (5, 4) from (3, 4)");
  EXPECT_REFUSED(pad, "pad", set("pads", 0, INT64_MIN), "its parameter 'pads' holds");
  const std::string filled = network("(float[3,4] x) => (float[5,4] y)",
                                     "int64[4] p = {1, 0, 1, 0}, float v = {7}", "y = Pad (x, p, v)");
  EXPECT_EQ(forged(filled, "pad", [](Plan&, Step& s) { s.inputs[1] = -1; }), "it runs");
  EXPECT_REFUSED(
      pad, "pad",
      [](Plan& p, Step& s) {
        p.values[static_cast<size_t>(s.outputs[0])].shape = Shape({5, 0});
      },
      "do not make (5, 0) from (3, 4)");
  const std::string elements = network("(float[3,4] x, int64[3,6] i) => (float[3,6] y)", zeros("1", 1),
                                       "y = GatherElements <axis = 1> (x, i)");
  EXPECT_REFUSED(elements, "indexed", set("axis", 2), "its parameter 'axis' is 2");
  EXPECT_REFUSED(elements, "indexed", set("axis", 0), "indices of shape");
  const std::string slices = network("(float[3,4] x, int64[2,1] i, float[2,4] u) => (float[3,4] y)",
                                     zeros("1", 1), "y = ScatterND <reduction = \"add\"> (x, i, u)");
  EXPECT_REFUSED(slices, "indexed", set("batch_dims", 1), "do not fit (3, 4)");
  EXPECT_REFUSED(
      slices, "indexed", [](Plan&, Step& s) { s.parameters.set("reduction", std::string("most")); },
      "'most' is no reduction");
  const std::string concat = network("(float[3,2] a, float[3,4] b) => (float[3,6] y)", zeros("1", 1),
                                     "y = Concat <axis = 1> (a, b)");
  EXPECT_REFUSED(concat, "concat", set("offsets", 1, 3), "is not a part of (3, 6)");
  const std::string resize = network("(float[1,1,2,2] x) => (float[1,1,4,4] y)", "float[4] s = {1, 1, 2, 2}",
                                     "y = Resize <mode = \"nearest\"> (x, , s)");
  EXPECT_REFUSED(resize, "resize", set("rows_index", 0, 2), "its parameter 'rows_index' holds 2");
}

TEST_F(ForgedPlans, AxesWindowsAndPlacesThatDoNotFit) {
  const std::string best =
      network("(float[3,4] x) => (int64[3] y)", zeros("1", 1), "y = ArgMax <axis = 1, keepdims = 0> (x)");
  EXPECT_REFUSED(best, "arg_extreme", set("axis", 2), "its parameter 'axis' is 2");
  EXPECT_REFUSED(best, "arg_extreme", set("axis", 0), "places in (3, 4)");
  const std::string sums = network("(float[3,4] x) => (float[3,4] y)", "int64 a = {1}", "y = CumSum (x, a)");
  EXPECT_REFUSED(sums, "running_sum", set("axis", -1), "its parameter 'axis' is -1");
  EXPECT_REFUSED(
      sums, "running_sum",
      [](Plan& p, Step& s) {
        p.values[static_cast<size_t>(s.outputs[0])].shape = Shape({4, 3});
      },
      "another shape than (3, 4)");
  const std::string top =
      network("(float[3,4] x) => (float[3,2] y, int64[3,2] i)", "int64[1] k = {2}", "y, i = TopK (x, k)");
  EXPECT_REFUSED(top, "top_k", set("axis", 0), "selects from (3, 4)");
  const std::string pool =
      network("(uint8[1,2,5] x) => (uint8[1,2,4] y)", zeros("1", 1), "y = MaxPool <kernel_shape = [2]> (x)");
  EXPECT_REFUSED(pool, "max_pool", set("strides", 0, 0), "its parameter 'strides' holds 0");
  EXPECT_REFUSED(pool, "max_pool", set("kernel", 0, int64_t{1} << 40), "its parameter 'kernel' holds");
  // A window that reaches beyond the image reads what is there.
  EXPECT_EQ(forged(pool, "max_pool", set("kernel", 0, 100)), "it runs");
  EXPECT_EQ(forged(pool, "max_pool", set("pads_begin", 0, 2000000000)), "it runs");
  EXPECT_EQ(forged(pool, "max_pool", set("dilations", 0, 2000000000)), "it runs");
  const std::string fold =
      network("(float[1,18,16] x) => (float[1,2,4,4] y)", "int64[2] e = {4, 4}, int64[2] b = {3, 3}",
              "y = Col2Im <pads = [1, 1, 1, 1]> (x, e, b)");
  EXPECT_REFUSED(fold, "fold_columns", set("blocks", 0, 5), "elements of 360 in blocks");
  EXPECT_EQ(forged(fold, "fold_columns", set("strides", 1, 1000)), "it runs");
  EXPECT_EQ(forged(fold, "fold_columns", set("pads_begin", 1, 1000)), "it runs");
  const std::string triangle = network("(float[3,4] x) => (float[3,4] y)", zeros("1", 1), "y = Trilu (x)");
  EXPECT_EQ(forged(triangle, "triangle", set("k", INT64_MIN)), "it runs");
  EXPECT_EQ(forged(triangle, "triangle", set("k", INT64_MAX)), "it runs");
  const std::string reverse =
      network("(float[3,4] x, int64[4] n) => (float[3,4] y)", zeros("1", 1), "y = ReverseSequence (x, n)");
  EXPECT_REFUSED(reverse, "reverse_sequence", set("by_sequence", 1), "lengths of (4,) for (3, 4)");
  const std::string grid = network("(float[1,2,4,4] x, float[1,3,3,2] g) => (float[1,2,3,3] y)",
                                   zeros("1", 1), "y = GridSample (x, g)");
  EXPECT_REFUSED(grid, "grid_sample", set("mode", 3), "its parameter 'mode' is 3");
  EXPECT_REFUSED(grid, "grid_sample", set("edge", 3), "its parameter 'edge' is 3");
  const std::string roi =
      network("(float[1,2,4,4] x, float[2,4] r, int64[2] i) => (float[2,2,2,2] y)", zeros("1", 1),
              "y = RoiAlign <output_height = 2, output_width = 2> (x, r, i)");
  EXPECT_REFUSED(roi, "roi_align", set("ratio", -1), "its parameter 'ratio' is -1");
  EXPECT_REFUSED(roi, "roi_align", set("ratio", 3143), "its parameter 'ratio' is 3143");
  const std::string dft =
      "<ir_version: 8, opset_import: [\"\" : 20]> g (float[2,6,1] x) => (float[2,4,2] y) <" + zeros("1", 1) +
      "> { y = DFT <onesided = 1> (x) }";
  EXPECT_REFUSED(dft, "fourier", set("length", 9), "transforms of 9 do not make (2, 4, 2) of (2, 6, 1)");
  EXPECT_REFUSED(dft, "fourier", set("length", int64_t{1} << 40), "its parameter 'length' is");
  EXPECT_REFUSED(dft, "fourier", set("axis", 2), "holds the complex parts");
  EXPECT_REFUSED(dft, "fourier", set("step", 3), "do not make");
  EXPECT_EQ(forged(dft, "fourier", set("length", 7)), "it runs");
  const std::string deform =
      "<ir_version: 8, opset_import: [\"\" : 19]> g (float[1,2,4,4] x, float[1,18,4,4] o) => "
      "(float[1,3,4,4] y) <" +
      zeros("3,2,3,3", 54) + "> { y = DeformConv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w, o) }";
  EXPECT_REFUSED(deform, "deform_conv", set("groups", 2), "groups do not make");
  EXPECT_REFUSED(deform, "deform_conv", set("kernel", 0, 30), "does not have");
  EXPECT_EQ(forged(deform, "deform_conv", set("strides", 0, 1000)), "it runs");
}

TEST_F(ForgedPlans, RowsThatAreNotThere) {
  // Found by fuzzing: a number to pad with that is left out.
  const std::string pad =
      network("(float[2,3] x, float v) => (float[2,4] y)", "int64[4] p = {0, 0, 0, 1}", "y = Pad (x, p, v)");
  EXPECT_EQ(forged(pad, "pad", [](Plan&, Step& s) { s.inputs.at(1) = -1; }), "it runs");
  const std::string attention = network(
      "(float[1,2,3,4] q, float[1,2,4,5] k, float[1,2,5,4] v, float[3,5] m) => (float[1,2,3,4] y)",
      zeros("1", 1), "a = MatMul (q, k) b = Add (a, m) c = Softmax <axis = -1> (b) y = MatMul (c, v)");
  EXPECT_REFUSED(attention, "attention", set("extents", 4, 6), "it would leave the");
  EXPECT_REFUSED(attention, "attention", set("extents", 1, INT64_MAX / 8), "its parameter 'extents' holds");
  EXPECT_REFUSED(attention, "attention", set("extents", 2, 5), "2 heads share 5 heads of keys");
  EXPECT_REFUSED(attention, "attention", set("offsets", 1, 1), "it would leave the");
  EXPECT_REFUSED(attention, "attention", set("query", 3, 2), "lie apart");
  EXPECT_REFUSED(attention, "attention", set("result", 2, 0), "its result is not written whole");
  EXPECT_REFUSED(attention, "attention", set("mask_strides", 3, 2), "a mask's keys lie 2 elements apart");
  EXPECT_REFUSED(attention, "attention", set("mask_strides", 2, 6), "it would leave the");
  EXPECT_REFUSED(attention, "attention", set("mask_kinds", 0, 1), "is float32, not bool");
  EXPECT_REFUSED(
      attention, "attention", [](Plan&, Step& s) { s.scratch_bytes = 64; }, "scratch");
  const std::string softmax = network("(float[3,4] x) => (float[3,4] y)", zeros("1", 1), "y = Softmax (x)");
  EXPECT_REFUSED(softmax, "softmax", set("outer", 4), "does not have 16 elements");
  EXPECT_REFUSED(softmax, "softmax", set("outer", INT64_MAX), "its sizes are beyond any memory");
  const std::string reduce =
      network("(float[3,4] x) => (float[3,1] y)", "int64[1] a = {1}", "y = ReduceSum (x, a)");
  EXPECT_REFUSED(reduce, "reduce", set("kind", 7), "its parameter 'kind' is 7");
  EXPECT_REFUSED(reduce, "reduce", set("inner", 2), "does not have");
  const std::string norm = network("(float[3,4] x) => (float[3,4] y)", "float[4] s = {1, 1, 1, 1}",
                                   "y = LayerNormalization (x, s)");
  EXPECT_REFUSED(norm, "normalize", set("per_row_period", 9), "does not have 9 elements");
  const std::string filters = network("(float[1,4,9] x) => (float[1,4,9] y)", zeros("4,1,3", 12),
                                      "y = Conv <group = 4, pads = [1, 1]> (x, w)");
  EXPECT_REFUSED(filters, "depthwise_conv1d", set("sizes", 0, 8), "does not have");
  EXPECT_REFUSED(filters, "depthwise_conv1d", set("sizes", 1, 3), "4 signals have 3 filters");
  EXPECT_REFUSED(filters, "depthwise_conv1d", set("sizes", 4, 4), "does not have 16 elements");
  EXPECT_REFUSED(filters, "depthwise_conv1d", set("sizes", 5, 0), "its size 5 is 0");
  EXPECT_REFUSED(filters, "depthwise_conv1d", set("sizes", 5, 513), "reach over 1026 samples");
  const std::string windows = network("(float[1,32,1,1] x) => (float[1,32,1,1] y)", zeros("32,1,3,3", 288),
                                      "c = Conv <group = 32, pads = [1, 1, 1, 1]> (x, w) y = HardSwish (c)");
  EXPECT_REFUSED(windows, "depthwise_conv", set("kernel", 0, 4), "does not have");
  EXPECT_REFUSED(windows, "depthwise_conv", set("depthwise", 0), "it has no windows of single channels");
  EXPECT_REFUSED(
      windows, "depthwise_conv",
      [](Plan&, Step& s) { s.parameters.set("epilogue", std::vector<std::string>{"Exp"}); },
      "what follows its sums is no end that it has");
  const std::string scaled = network("(float[1,32,1,1] x) => (float[1,32,1,1] y)",
                                     zeros("32,1,3,3", 288) + ", " + zeros("32,1,1", 32, "f"),
                                     "c = Conv <group = 32, pads = [1, 1, 1, 1]> (x, w) y = Mul (c, f)");
  EXPECT_REFUSED(
      scaled, "depthwise_conv",
      [](Plan& p, Step& s) {
        p.values[static_cast<size_t>(s.inputs[3])].shape = Shape({31, 1, 1});
      },
      "what follows its sums is no end that it has");
  const std::string image =
      network("(float[1,3,64,64] x) => (float[1,16,1,1] y)", zeros("16,3,3,3", 432),
              "c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w) y = GlobalMaxPool (c)");
  EXPECT_REFUSED(image, "image_conv", set("kernel", 0, 4), "does not have");
  EXPECT_REFUSED(image, "image_conv", set("depthwise", 1), "it has 16 channels of 3");
  EXPECT_REFUSED(image, "image_conv", set("threads", 64), "scratch");
  const std::string dots = network("(float[1,16,64,64] x) => (float[1,2,64,64] y)", zeros("2,16,7,7", 1568),
                                   "y = Conv <pads = [3, 3, 3, 3]> (x, w)");
  EXPECT_REFUSED(dots, "few_output_conv", set("kernel", 0, 4), "does not have");
  EXPECT_REFUSED(dots, "few_output_conv", set("depthwise", 1), "it has 2 channels of 16");
  const std::string lstm =
      network("(float[2,1,4] x) => (float[2,1,1,3] y)", zeros("1,12,4", 48) + ", " + zeros("1,12,3", 36, "r"),
              "y = LSTM <hidden_size = 3> (x, w, r)");
  EXPECT_REFUSED(lstm, "recurrent", set("sizes", 0, 3), "does not have 12 elements");
  EXPECT_REFUSED(lstm, "recurrent", set("sizes", 3, 4), "does not have");
  EXPECT_REFUSED(lstm, "recurrent", set("kind", 1), "does not have");
  EXPECT_REFUSED(lstm, "recurrent", set("lanes", 3), "its weights are in blocks of 3");
  EXPECT_REFUSED(lstm, "recurrent", set("functions", 1, 11), "functions");
  EXPECT_REFUSED(lstm, "recurrent", set("flags", 4, 1), "is left out");
  EXPECT_REFUSED(lstm, "recurrent", set("flags", 6, 1), "inputs for 1 directions");
  EXPECT_REFUSED(lstm, "recurrent", set("flags", 7, 2), "flags");
  EXPECT_REFUSED(
      lstm, "recurrent", [](Plan&, Step& s) { s.parameters.set("clip", -1.0); },
      "its sums are clipped at -1");
  EXPECT_REFUSED(
      lstm, "recurrent", [](Plan&, Step& s) { s.scratch_bytes = 64; }, "it has 64 bytes of scratch memory");
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
