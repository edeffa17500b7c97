// Models with known values, which an unsound simplification or the engine once changed: unmodified,
// simplified, and simplified edit by edit with the proof, by the reference and by the engine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/backend_set.h"
#include "graph/clone.h"
#include "graph/import.h"
#include "ops/infer.h"
#include "run/proven_model.h"
#include "tensor/convert.h"
#include "transform/simplify.h"

namespace assay::known_values_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

struct Known {
  const char* name;
  int64_t opset;
  const char* graph;
  std::vector<double> fed;                ///< to the only input; an open extent is as long as this
  std::vector<std::vector<double>> want;  ///< of each output, as the declared types round
};

// Rows of four: RMS norm, layer norm.
const std::vector<double> kRows = {1.5, -0.25, 3, 0.5, -2, 0.75, 0.125, -1};

const Known kAll[] = {
    // A window within the padding: its maximum is zero, not -infinity.
    {"PaddedMaxPoolWithDilation",
     17,
     "g (float[1,1,2] x) => (float[1,1,1] y) <int64[6] pads = {0,0,1,0,0,1}, float zero = {0}> { r = Relu "
     "(x) "
     "p = Pad (r, pads, zero) y = MaxPool <dilations = [3], kernel_shape = [2]> (p) }",
     {-0.5, 0.25},
     {{0}}},
    {"RmsNormThatAddsAnAxis",
     23,
     "g (float[2,4] x) => (float[1,2,4] y) <float two = {2}, float[1,1,1] eps = {1e-05}, float[4] s = {0.5, "
     "-2, 1.25, 3}, int64[1] ax = {-1}> { q = Pow (x, two) m = ReduceMean <keepdims = 1> (q, ax) e = Add (m, "
     "eps) d = Sqrt (e) n = Div (x, d) y = Mul (n, s) }",
     kRows,
     {{0.441128016, 0.294085354, 2.20564008, 0.882256031, -0.846806765, -1.27021015, 0.13231355,
       -2.54042029}}},
    {"RmsNormInFloat64",
     23,
     "g (double[2,4] x) => (double[2,4] y) <double two = {2}, double eps = {1e-05}, double[4] s = {0.5, -2, "
     "1.25, 3}, int64[1] ax = {-1}> { q = Pow (x, two) m = ReduceMean <keepdims = 1> (q, ax) e = Add (m, "
     "eps) "
     "d = Sqrt (e) n = Div (x, d) y = Mul (n, s) }",
     kRows,
     {{0.44112801022471065, 0.29408534014980708, 2.2056400511235532, 0.8822560204494212, -0.84680676227548002,
       -1.27021014341322, 0.13231355660554375, -2.5404202868264401}}},
    {"LayerNormThatAddsAnAxis",
     18,
     "g (float[2,4] x) => (float[1,2,4] y) <float two = {2}, float[1,1,1] eps = {1e-05}, float[4] s = {0.5, "
     "-2, 1.25, 3}, float[4] h = {-0.5, 0.25, 1, -1}, int64[1] ax = {-1}> { u = ReduceMean <keepdims = 1> "
     "(x, "
     "ax) c = Sub (x, u) q = Pow (c, two) m = ReduceMean <keepdims = 1> (q, ax) e = Add (m, eps) d = Sqrt "
     "(e) "
     "n = Div (c, d) a = Mul (n, s) y = Add (a, h) }",
     kRows,
     {{-0.371584058, 2.61285329, 2.86203122, -2.69509053, -1.19631231, -2.17968535, 1.77779567,
       -2.33336401}}},
    {"GeluThatAddsAnAxis",
     20,
     "g (float[5] x) => (float[1,5] y) <float r2 = {1.4142135}, float one = {1}, float[1,1] half = {0.5}> { "
     "a "
     "= Div (x, r2) e = Erf (a) p = Add (e, one) q = Mul (x, p) y = Mul (q, half) }",
     {-2, -0.5, 0.25, 1, 3},
     {{-0.0455002636, -0.154268771, 0.149676576, 0.841344774, 2.99595022}}},
    {"HardSwishThatAddsAnAxis",
     14,
     "g (float[6] x) => (float[1,6] y) <float three = {3}, float lo = {0}, float hi = {6}, float[1,1] six = "
     "{6}> { a = Add (x, three) c = Clip (a, lo, hi) p = Mul (x, c) y = Div (p, six) }",
     {-4, -2, -0.5, 0.25, 1, 4},
     {{0, -0.333333343, -0.208333328, 0.135416672, 0.666666687, 4}}},
    // A window with NaN has no maximum, at run time as when folded.
    {"MaxPoolOverNan",
     17,
     "g (float[1,1,5] x) => (float[1,1,3] y, float[1,1,3] z) <float[1,1,5] k = {2, 8, nan, 5, 6}> { y = "
     "MaxPool <kernel_shape = [3]> (x) z = MaxPool <kernel_shape = [3]> (k) }",
     {1, 2, 3, 4, kNan},
     {{3, 4, kNan}, {kNan, kNan, kNan}}},
    {"MeansOfIntegers",
     18,
     "g (int64[2,2,2] x) => (int64[2] y, int64[2] z) <int64[1] a2 = {2}, int64[1] a1 = {1}> { p = ReduceMean "
     "<keepdims = 0> (x, a2) y = ReduceMean <keepdims = 0> (p, a1) l = ReduceL2 <keepdims = 0> (x, a2) z = "
     "ReduceL2 <keepdims = 0> (l, a1) }",
     {0, 3, 0, 1, 1, 2, 2, 4},
     {{0, 2}, {3, 4}}},
    {"MeansOfIntegersThatKeepAxes",
     13,
     "g (int32[2,2,2] x) => (int32[2,1,1] y) { p = ReduceMean <axes = [2], keepdims = 1> (x) y = ReduceMean "
     "<axes = [1], keepdims = 1> (p) }",
     {0, 3, 0, 1, 1, 2, 2, 4},
     {{0, 2}}},
    // 100, 700, 300 and 1536 in float16.
    {"FactorsBeyondTheRangeOfFloat16",
     17,
     "g (float16[6] x) => (float16[6] y, float16[6] z, float16[6] w) <float16 a = {22080}, float16 b = "
     "{24952}, float16 d = {23728}, float16 m = {26112}> { p = Mul (x, a) y = Mul (p, b) q = Div (x, d) z = "
     "Div (q, d) t = Add (x, m) w = Sub (t, m) }",
     {0, 0.00100040436, -0.0200042725, 1, -50, 0.5},
     {{0, 70, -1400, kInf, -kInf, 35008},
      {0, 0, -2.38418579e-07, 1.10864639e-05, -0.000555515289, 5.54323196e-06},
      {0, 0, 0, 1, -50, 0}}},
    {"FactorsBeyondTheRangeOfFloat32",
     17,
     "g (float[8] x) => (float[8] y, float[8] z, float[8] w) <float a = {1e+20}, float s = {1e-30}, float m "
     "= "
     "{12582912}> { p = Mul (x, a) y = Mul (p, a) q = Mul (x, s) z = Mul (q, s) t = Add (x, m) w = Sub (t, "
     "m) "
     "}",
     {0, 1e-30, -3e-25, 1, 2.5, -7.75, 1e30, 0.4},
     {{0, 1e10, -3.0000003e15, kInf, kInf, -kInf, kInf, kInf},
      {0, 0, 0, 0, 0, 0, 1e-30, 0},
      {0, 0, 0, 1, 2, -8, 1e30, 0}}},
    {"FactorsWhoseProductIsZero",
     17,
     "g (float[n] x) => (float[n] y) <float a = {1e-25}, float b = {1e-25}> { t = Mul (x, a) y = Mul (t, b) "
     "}",
     {1e30, -3e35, 1e38, 2},
     {{1e-20, -3e-15, 1e-12, 0}}},
    {"RoundingToHalves",
     17,
     "g (float[n] x) => (float[n] y) <float m = {12582912}, float s = {0.5}> { q = Div (x, s) t = Add (q, m) "
     "r "
     "= Sub (t, m) y = Mul (r, s) }",
     {0.4, 0.6, 1.5, 2.5, -7.75, 100.3},
     {{0.5, 0.5, 1.5, 2.5, -8, 100.5}}},
    // If the bounds are reversed, the upper one wins.
    {"ClipAndRelu",
     17,
     "g (float[5] x) => (float[5] y1, float[5] y2, float[5] y3, float[5] y4, float[5] y5, float[5] y6) "
     "<float "
     "lo = {1}, float zero = {0}, float neg = {-1}, float hi = {2}> { r = Relu (x) y1 = Clip (r, lo) k = "
     "Clip "
     "(x, zero, neg) y2 = Relu (k) y3 = Clip (r, \"\", neg) k4 = Clip (x, \"\", hi) y4 = Relu (k4) y5 = Clip "
     "(r, lo, hi) y6 = Clip (r, zero, neg) }",
     {-3, -0.5, 0, 0.5, 3},
     {{1, 1, 1, 1, 3},
      {0, 0, 0, 0, 0},
      {-1, -1, -1, -1, -1},
      {0, 0, 0, 0.5, 2},
      {1, 1, 1, 1, 2},
      {-1, -1, -1, -1, -1}}},
};

std::shared_ptr<Model> model_of(const Known& k) {
  std::shared_ptr<Model> m =
      parse_text(fmt::format("<ir_version: 8, opset_import: [\"\" : {}]> {}", k.opset, k.graph), "text");
  infer_shapes(*m);
  return m;
}

Tensor feed_of(const Known& k, const Value& input) {
  Shape shape;
  for (const Dim& d : *input.type.dims)
    shape.push_back(d.is_known() ? d.value() : static_cast<int64_t>(k.fed.size()));
  return convert(Tensor::vector(k.fed).reshaped(shape), input.type.dtype);
}

/// The accuracy of the type after a few operations.
double tolerance(DType t) { return t == DType::kFloat16 ? 2e-3 : t == DType::kFloat64 ? 1e-13 : 1e-6; }

void expect_known(const Known& k, const std::shared_ptr<Model>& model, const char* backend) {
  infer_shapes(*model);
  const SessionOptions options{.threads = 1, .reference_precision = ReferencePrecision::kStored};
  const auto session = built_in_backends().get(backend).open({model, {}}, options);
  const Tensor feed[] = {feed_of(k, *model->graph->inputs[0])};
  std::vector<Tensor> got(k.want.size());
  session->run(feed, [&](size_t i, Tensor t) { got[i] = std::move(t); });
  for (size_t i = 0; i < got.size(); ++i) {
    const Value& output = *model->graph->outputs[i];
    EXPECT_EQ(got[i].dtype(), output.type.dtype) << output.name();
    const Tensor wide = convert(got[i], DType::kFloat64);
    ASSERT_EQ(wide.numel(), static_cast<int64_t>(k.want[i].size())) << output.name();
    for (size_t e = 0; e < k.want[i].size(); ++e) {
      const double a = wide.data<double>()[e], b = k.want[i][e];
      const bool is_same = a == b || (std::isnan(a) && std::isnan(b)) ||
                           (std::isfinite(b) && std::abs(a - b) <= tolerance(got[i].dtype()) * std::abs(b));
      EXPECT_TRUE(is_same) << output.name() << " has " << a << " at " << e << ", and should have " << b;
    }
  }
}

class KnownValues : public testing::TestWithParam<Known> {
 protected:
  /// By both, the shapes and types of outputs as declared.
  void expect_known_values(const std::shared_ptr<Model>& model) {
    for (const char* backend : {"reference", "engine"}) {
      SCOPED_TRACE(backend);
      expect_known(GetParam(), clone_model(*model), backend);
    }
  }
};

TEST_P(KnownValues, AsItIs) { expect_known_values(model_of(GetParam())); }

TEST_P(KnownValues, Simplified) {
  const std::shared_ptr<Model> model = model_of(GetParam());
  const std::shared_ptr<Model> before = clone_model(*model);
  simplify(*model);
  for (size_t i = 0; i < model->graph->outputs.size(); ++i)
    EXPECT_EQ(model->graph->outputs[i]->type.str(), before->graph->outputs[i]->type.str());
  expect_known_values(model);
}

TEST_P(KnownValues, SimplifiedWithProof) {
  const std::shared_ptr<Model> model = model_of(GetParam());
  const MakeModel make = [&](EditProof& proof, FoldExtent) {
    std::shared_ptr<Model> copy = clone_model(*model);
    simplify(*copy, {.allows_edit = [&](const PassEdit& e) { return proof.allows(e); }});
    return copy;
  };
  EditProof proof;
  EquivalenceOptions options;
  const ProvenModel proven = make_proven(model, make, proof, options);
  ASSERT_NE(proven.model, nullptr) << proven.comparison.difference;
  EXPECT_TRUE(proof.refused().empty()) << proof.refused()[0].pass << ": " << proof.refused()[0].reason;
  expect_known_values(proven.model);
}

INSTANTIATE_TEST_SUITE_P(All, KnownValues, testing::ValuesIn(kAll),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace assay::known_values_test
