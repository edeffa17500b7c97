#include "reference/type_match.h"

#include <gtest/gtest.h>

#include "ops/value_type.h"

namespace assay::type_match_test {
namespace {

TEST(TypeMatch, ExpressionsHaveValues) {
  Symbols s;
  s.bind("n", 7);
  s.bind("in0.1", 3);
  EXPECT_EQ(s.value("n"), 7);
  EXPECT_EQ(s.value("2*n+1"), 15);
  EXPECT_EQ(s.value("(n-1)/4"), 1);
  EXPECT_EQ(s.value("(in0.1-n)/3"), -2) << "rounded down";
  EXPECT_EQ(s.value("((n*in0.1)-1)/(2+3)"), 4);
  for (const char* text : {"m", "n/0", "n+", "(n", "n)", ""}) EXPECT_EQ(s.value(text), std::nullopt) << text;
}

TEST(TypeMatch, NumbersSymbolsAndRanks) {
  Symbols s;
  const Tensor t = Tensor::zeros(DType::kFloat32, {2, 6});
  EXPECT_EQ(contradiction(Type::tensor(DType::kFloat32, Dims{Dim::symbol("n"), Dim::symbol("3*n")}), t, s),
            "");
  EXPECT_EQ(contradiction(Type(), t, s), "");
  EXPECT_EQ(contradiction(Type::tensor(DType::kUndefined, Dims{Dim(), Dim()}), t, s), "");
  EXPECT_EQ(contradiction(Type::tensor(DType::kFloat32, Dims{2, Dim::symbol("2*n")}), t, s),
            "float32[2, 2*n] was inferred, but float32(2, 6) was computed, where '2*n' is 4");
  EXPECT_NE(contradiction(Type::tensor(DType::kFloat32, Dims{3, 6}), t, s), "");
  EXPECT_NE(contradiction(Type::tensor(DType::kFloat32, Dims{12}), t, s), "");
  EXPECT_NE(contradiction(Type::tensor(DType::kInt32), t, s), "");
}

TEST(TypeMatch, Containers) {
  Symbols s;
  const Tensor two = Tensor::sequence({Tensor::zeros(DType::kInt64, {1}), Tensor::zeros(DType::kInt64, {2})});
  const Type element = Type::tensor(DType::kInt64, Dims{Dim::symbol("n")});
  EXPECT_EQ(contradiction(sequence_of(element), two, s), "") << "elements differ in n";
  EXPECT_NE(contradiction(sequence_of(Type::tensor(DType::kInt64, Dims{1})), two, s), "");
  EXPECT_NE(contradiction(optional_of(element), two, s), "");
  EXPECT_NE(contradiction(element, two, s), "");
}

}  // namespace
}  // namespace assay::type_match_test
