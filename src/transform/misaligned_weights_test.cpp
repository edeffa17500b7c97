// Runs every pass on models with misaligned constants.
#include <gtest/gtest.h>

#include <cstring>

#include "analysis/sparsity.h"
#include "assay/edit.h"
#include "assay/fold.h"
#include "graph/clone.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "passes/pass_manager.h"
#include "passes/region.h"
#include "reference/interpreter.h"
#include "tensor/convert.h"
#include "tensor/random_weights.h"
#include "transform/convert_to_float16.h"
#include "transform/randomize_weights.h"

namespace assay::misaligned_weights_test {
namespace {

/// A graph with most of the patterns that passes search. The inputs after x become constants.
constexpr const char* kText = R"(<ir_version: 10, opset_import: ["" : 17]>
g (float[1, 4, 6, 6] x, float[8, 4, 3, 3] w, float[8] b, float[8] scale, float[8] bias, float[8] mean, float[8] variance,
   float[8, 1, 1] factor, float[8, 8] gw, float[8] gb, float[8] ln, float16[8, 8] hw, int64[8] table, float[8, 8] uniform)
  => (float[1, 8] y, float[1, 8] z, float16[1, 8] h, int64[2] i)
<float half = {0.5}, float one = {1}, float root = {1.4142135}, float three = {3}, float six = {6}, float sixth = {0.16666667},
 float zero = {0}, int64[2] to = {1, 8}, int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}, int64[2] places = {3, 0}, float two = {2},
 float eps = {0.00001}>
{
  p = Pad (x, pads, zero)
  c = Conv (p, w, b)
  n = BatchNormalization (c, scale, bias, mean, variance)
  f = Mul (n, factor)
  f3 = Add (f, three)
  f6 = Clip (f3, zero, six)
  hs = Mul (f, f6)
  hs6 = Mul (hs, sixth)
  s = Sigmoid (hs6)
  silu = Mul (hs6, s)
  l0 = BatchNormalization (silu, scale, bias, mean, variance)
  pool = GlobalAveragePool (l0)
  flat = Reshape (pool, to)
  fc = Gemm <transB = 1> (flat, gw, gb)
  e0 = Div (fc, root)
  e1 = Erf (e0)
  e2 = Add (e1, one)
  e3 = Mul (fc, e2)
  gelu = Mul (e3, half)
  m = ReduceMean <axes = [-1], keepdims = 1> (gelu)
  d = Sub (gelu, m)
  dd = Pow (d, two)
  v = ReduceMean <axes = [-1], keepdims = 1> (dd)
  ve = Add (v, eps)
  sd = Sqrt (ve)
  q = Div (d, sd)
  ql = Mul (q, ln)
  qb = Add (ql, gb)
  sm = Softmax <axis = -1> (qb)
  t0 = Transpose <perm = [1, 0]> (sm)
  t1 = Transpose <perm = [1, 0]> (t0)
  u = MatMul (t1, uniform)
  y = Identity (u)
  sp = Softplus (fc)
  th = Tanh (sp)
  z = Mul (fc, th)
  fch = Cast <to = 10> (fc)
  h = MatMul (fch, hw)
  i = Gather (table, places)
})";

std::shared_ptr<Model> aligned_model() {
  std::shared_ptr<Model> model = parse_text(kText, "text");
  Graph& g = *model->graph;
  for (size_t n = 1; n < g.inputs.size(); ++n) {
    Value* v = g.inputs[n];
    const Shape shape = *known_shape(*v->type.dims);
    Tensor t = Tensor::allocate(DType::kFloat32, shape);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.mutable_data<float>()[i] =
          v->name() == "uniform" ? 0.25F
                                 : 0.1F + 0.03F * static_cast<float>((i * 7 + static_cast<int64_t>(n)) % 23);
    v->set_tensor(convert(t, v->type.dtype));
  }
  g.inputs.resize(1);
  infer_shapes(*model);
  return model;
}

/// The model with every constant moved to an address that is off by this many bytes from full alignment.
std::shared_ptr<Model> misaligned(const Model& model, size_t offset) {
  const auto move = [offset](const UnalignedTensor& t) {
    struct alignas(64) Line {
      char bytes[64];
    };
    const auto room = std::make_shared<std::vector<Line>>((t.nbytes() + offset) / 64 + 1);
    char* at = room->data()->bytes + offset;
    if (t.nbytes() > 0) std::memcpy(at, t.data(), t.nbytes());
    return UnalignedTensor::view(t.dtype(), t.shape(), at, room);
  };
  std::shared_ptr<Model> copy = clone_model(model);
  for (const auto& v : copy->graph->values())
    if (v->tensor().defined()) v->set_tensor(move(v->tensor()));
  for (const auto& n : copy->graph->nodes())
    for (Attribute& a : n->attributes)
      if (const auto* t = a.get_if<UnalignedTensor>()) a.data = move(*t);
  return copy;
}

std::vector<Tensor> evaluate(const std::shared_ptr<Model>& model, const std::vector<Tensor>& feed) {
  infer_shapes(*model);
  std::vector<Tensor> out(model->graph->outputs.size());
  Interpreter(model, {.precision = ReferencePrecision::kStored})
      .run(feed, [&](const Value& v, std::span<const Tensor> lanes) {
        for (size_t i = 0; i < out.size(); ++i)
          if (model->graph->outputs[i] == &v) out[i] = lanes[0];
      });
  return out;
}

/// Changes the model and its misaligned copies, which must compute the same bits afterwards.
template <typename Change>
void expect_same(const char* what, Change change) {
  const std::shared_ptr<Model> original = aligned_model();
  const Tensor x = random_weights(3, "x", {1, 4, 6, 6}, Init::normal(1));
  const std::shared_ptr<Model> expected = clone_model(*original);
  change(*expected);
  // Regions have no evaluation of their own.
  const auto all = [](const Node&) { return true; };
  dissolve_regions(*expected, all);
  const std::vector<Tensor> wanted = evaluate(expected, {x});
  for (size_t offset = 1; offset < 16; ++offset) {
    const std::shared_ptr<Model> model = misaligned(*original, offset);
    ASSERT_EQ(model->graph->find_value("w")->tensor().if_aligned() == nullptr, offset % 4 != 0);
    ASSERT_NO_THROW(change(*model)) << what << " with weights at " << offset;
    dissolve_regions(*model, all);
    const std::vector<Tensor> got = evaluate(model, {x});
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(got[i].identical(wanted[i])) << what << " with weights at " << offset << ": output " << i;
  }
}

TEST(MisalignedWeights, EveryPassAlone) {
  // This one writes an operator of opset 23, which the model does not import.
  for (const PassDef* pass : built_in_passes().all())
    if (pass->name != "fuse_rms_norm")
      expect_same(std::string(pass->name).c_str(), [&](Model& m) { run_passes(m, {&pass, 1}); });
}

TEST(MisalignedWeights, EveryPipeline) {
  expect_same("all pipelines", [](Model& m) {
    for (const PassStage stage :
         {PassStage::kLowering, PassStage::kCanonical, PassStage::kSpecialize, PassStage::kIdioms}) {
      run_passes(m, built_in_passes().stage(stage));
      infer_shapes(m);
    }
  });
}

TEST(MisalignedWeights, ChangesThatAreNoPasses) {
  expect_same("fold", [](Model& m) {
    fold_constants(m);
    cleanup(m);
  });
  expect_same("float16", [](Model& m) { convert_to_float16(m); });
  expect_same("random weights", [](Model& m) { EXPECT_EQ(randomize_weights(m, 1), 1); });
  expect_same("sparsity", [](Model& m) {
    SparsityObserver silent;
    check_sparsity(m, silent);
  });
}

}  // namespace
}  // namespace assay::misaligned_weights_test
