#include <map>

#include "ops/nn/test_tensors.h"

namespace assay::einsum_test {
namespace {

struct EinsumCase {
  const char* equation;
  std::vector<Shape> inputs;
  const char* plain;  ///< the equation with every index as a letter and an output
  Ints out;
};

/// The definition: a sum over all assignments of indices.
Values sum_over_indices(const EinsumCase& t, const std::vector<Tensor>& inputs) {
  const std::string text = t.plain, left = text.substr(0, text.find("->")),
                    right = text.substr(text.find("->") + 2);
  std::vector<std::string> terms(1);
  for (const char c : left) {
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  }
  std::map<char, int64_t> extents, at;
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t d = 0; d < terms[i].size(); ++d)
      extents[terms[i][d]] = std::max(extents[terms[i][d]], inputs[i].dim(d));
  int64_t size = 1, all = 1;
  for (const char c : right) size *= extents[c];
  for (const auto& [c, n] : extents) all *= n;
  Values out(static_cast<size_t>(size), 0);
  for (int64_t n = 0; n < all; ++n) {
    int64_t rest = n, to = 0;
    for (const auto& [c, extent] : extents) {
      at[c] = rest % extent;
      rest /= extent;
    }
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i) {
      int64_t offset = 0;
      for (size_t d = 0; d < terms[i].size(); ++d)
        offset = offset * inputs[i].dim(d) + (inputs[i].dim(d) == 1 ? 0 : at[terms[i][d]]);
      product *= inputs[i].data<double>()[offset];
    }
    for (const char c : right) to = to * extents[c] + at[c];
    out[static_cast<size_t>(to)] += product;
  }
  return out;
}

class Einsum : public testing::TestWithParam<EinsumCase> {};

TEST_P(Einsum, EqualsTheSumOverItsIndices) {
  const EinsumCase& t = GetParam();
  std::vector<Tensor> inputs;
  std::vector<InferInput> types;
  for (const Shape& s : t.inputs) {
    inputs.push_back(random_tensor(s, static_cast<unsigned>(inputs.size())));
    types.emplace_back(inputs.back());
  }
  const AttributeList attributes = {{"equation", std::string(t.equation)}};
  const Tensor y = run_op("Einsum", 12, inputs, attributes)[0];
  ASSERT_EQ(y.shape().dims(), t.out);
  expect_near(y, Tensor::from<double>(Shape(t.out), sum_over_indices(t, inputs)), 1e-12, t.equation);
  EXPECT_EQ(infer_op("Einsum", 12, types, attributes).types[0], Type::tensor(DType::kFloat64, y.shape()));
}

INSTANTIATE_TEST_SUITE_P(
    Equations, Einsum,
    testing::Values(EinsumCase{"ij,jk->ik", {{3, 4}, {4, 5}}, "ij,jk->ik", {3, 5}},
                    EinsumCase{" b i j , b k j -> b k i ", {{2, 3, 4}, {2, 5, 4}}, "bij,bkj->bki", {2, 5, 3}},
                    EinsumCase{"ij,jk", {{3, 4}, {4, 5}}, "ij,jk->ik", {3, 5}},
                    EinsumCase{"ba", {{3, 4}}, "ba->ab", {4, 3}},
                    EinsumCase{"aB", {{3, 4}}, "aB->Ba", {4, 3}}, EinsumCase{"ii", {{4, 4}}, "ii->", {}},
                    EinsumCase{"iji->j", {{3, 4, 3}}, "iji->j", {4}},
                    EinsumCase{"iij->ij", {{3, 3, 4}}, "iij->ij", {3, 4}},
                    EinsumCase{"i,j,k->kij", {{2}, {3}, {4}}, "i,j,k->kij", {4, 2, 3}},
                    EinsumCase{"ab,bc,cd,da->", {{2, 3}, {3, 4}, {4, 5}, {5, 2}}, "ab,bc,cd,da->", {}},
                    EinsumCase{"...ij,...jk", {{2, 1, 3, 4}, {5, 4, 2}}, "xyij,yjk->xyik", {2, 5, 3, 2}},
                    EinsumCase{"...,...->...", {{3, 1}, {1, 4}}, "xy,xy->xy", {3, 4}},
                    EinsumCase{"i...->...", {{3, 2, 2}}, "ixy->xy", {2, 2}},
                    EinsumCase{"...i->i...", {{2, 3}}, "xi->ix", {3, 2}},
                    EinsumCase{",ij->ji", {{}, {2, 3}}, ",ij->ji", {3, 2}},
                    EinsumCase{"ij,jk->k", {{3, 4}, {4, 5}}, "ij,jk->k", {5}},
                    EinsumCase{"ij,kj->", {{3, 0}, {2, 0}}, "ij,kj->", {}}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(EinsumTypes, IntegersStayIntegers) {
  const Tensor a = Tensor::from<int64_t>({2}, {1, int64_t{1} << 60}), b = Tensor::from<int64_t>({2}, {3, 1});
  EXPECT_EQ(run_op("Einsum", 12, {a, b}, {{"equation", std::string("i,i")}})[0].item<int64_t>(),
            (int64_t{1} << 60) + 3);
}

TEST(EinsumShape, KeepsSymbols) {
  const Type x = Type::tensor(DType::kFloat32, {Dim::symbol("b"), Dim(1), Dim::symbol("s"), Dim(8)});
  const Type w = Type::tensor(DType::kFloat32, Shape{4, 8, 16});
  EXPECT_EQ(infer_op("Einsum", 12, {x, w}, {{"equation", std::string("...ij,...jk->...ik")}}).str(),
            "float32[b, 4, s, 16]");
  EXPECT_EQ(
      infer_op("Einsum", 12, {Type::tensor(DType::kFloat32), w}, {{"equation", std::string("xy,ayz->xz")}})
          .str(),
      "float32[?, 16]");
}

TEST(EinsumErrors, NameTheBrokenRule) {
  const Tensor x = random_tensor({2, 3}, 1);
  const auto bad = [&](const char* equation, const char* message) {
    return BadCase{{x, x}, {{"equation", std::string(equation)}}, message};
  };
  expect_refused("Einsum", 12,
                 {bad("ij->ij", "has 1 terms for 2 inputs"), bad("ij,ijk", "term 1 of the equation"),
                  bad("i1,ij", "neither a letter nor an ellipsis"),
                  bad("ij,ij->k", "has an output index that no input has"),
                  bad("ij,ij->ii", "repeats an index of the output"), bad("...i...,ij", "has two ellipses"),
                  bad("ij,ij-->", "neither a letter"), bad("i..,ij", "neither a letter")});
  EXPECT_THROW(run_op("Einsum", 12, {x, x}, {{"equation", std::string("ij,jk")}}), Error);
}

}  // namespace
}  // namespace assay::einsum_test
