#include "ops/value_type.h"

#include <gtest/gtest.h>

#include "assay/error.h"

namespace assay::value_type_test {
namespace {

const Type kFloats = Type::tensor(DType::kFloat32, Dims{Dim(2), Dim::symbol("n")});

TEST(CommonType, KeepsWhatAgrees) {
  const Type other = Type::tensor(DType::kFloat32, Dims{Dim(3), Dim::symbol("n")});
  EXPECT_EQ(common_type(kFloats, other).str(), "float32[?, n]");
  EXPECT_EQ(common_type(kFloats, Type::tensor(DType::kFloat32)).str(), "float32");
  EXPECT_EQ(common_type(kFloats, Type::tensor(DType::kFloat32, Dims{Dim(2)})).str(), "float32");
  EXPECT_EQ(common_type(kFloats, Type::tensor(DType::kUndefined, Dims{Dim(2), Dim(2)})).str(),
            "undefined[2, ?]");
  EXPECT_THROW(common_type(kFloats, Type::tensor(DType::kInt8)), Error);
}

TEST(CommonType, LooksIntoContainers) {
  const Type other = Type::tensor(DType::kFloat32, Dims{Dim(2), Dim(5)});
  EXPECT_EQ(common_type(sequence_of(kFloats), sequence_of(other)).str(), "seq(float32[2, ?])");
  EXPECT_EQ(common_type(optional_of(sequence_of(kFloats)), optional_of(sequence_of(kFloats))).str(),
            "optional(seq(float32[2, n]))");
  EXPECT_EQ(common_type(sequence_of(kFloats), sequence_of({})).str(), "seq(?)");
  EXPECT_EQ(common_type(sequence_of(kFloats), optional_of(kFloats)).str(), "unknown");
  EXPECT_EQ(common_type(sequence_of(kFloats), kFloats).str(), "unknown");
  EXPECT_EQ(common_type(kFloats, Type()).str(), "unknown");
  EXPECT_THROW(common_type(sequence_of(kFloats), sequence_of(Type::tensor(DType::kInt8))), Error);
}

TEST(ValueType, TakesPartsOut) {
  EXPECT_EQ(element_of(sequence_of(kFloats)), kFloats);
  EXPECT_EQ(element_of(kFloats).kind, Type::Kind::kUnknown);
  EXPECT_EQ(leaf_dtype(optional_of(sequence_of(kFloats))), DType::kFloat32);
  EXPECT_EQ(leaf_dtype(sequence_of({})), DType::kUndefined);
  EXPECT_EQ(without_dims(optional_of(sequence_of(kFloats))).str(), "optional(seq(float32))");
}

}  // namespace
}  // namespace assay::value_type_test
