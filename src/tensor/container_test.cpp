#include "tensor/container.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/convert.h"
#include "tensor/print.h"

namespace assay::container_test {
namespace {

const Tensor kA = Tensor::vector<float>({1, 2}), kB = Tensor::vector<float>({3});

TEST(Container, ASequenceHoldsTensors) {
  const Tensor s = Tensor::sequence({kA, kB});
  EXPECT_EQ(s.dtype(), DType::kSequence);
  EXPECT_EQ(dtype_name(s.dtype()), "sequence");
  EXPECT_TRUE(s.defined() && s.is_container());
  EXPECT_EQ(s.shape(), Shape{2});
  EXPECT_EQ(s.numel(), 2);
  EXPECT_EQ(s.nbytes(), 12u);
  EXPECT_EQ(bit_width(s.dtype()), 0);
  EXPECT_TRUE(s.elements()[1].identical(kB));
  EXPECT_TRUE(s.elements()[0].shares_storage(kA)) << "nothing is copied";
  EXPECT_FALSE(kA.is_container());
  EXPECT_FALSE(is_float(DType::kSequence) || is_integer(DType::kMap) || is_complex(DType::kOptional));
  EXPECT_FALSE(is_known_dtype(static_cast<int64_t>(DType::kSequence))) << "no file may name it";
}

TEST(Container, AnOptionalHoldsOneOrNone) {
  EXPECT_EQ(Tensor::optional({}).shape(), Shape{0});
  const Tensor o = Tensor::optional(Tensor::sequence({kA}));
  EXPECT_EQ(o.shape(), Shape{1});
  EXPECT_EQ(o.elements()[0].dtype(), DType::kSequence);
}

TEST(Container, AMapHoldsAsManyKeysAsValues) {
  const Tensor keys = Tensor::vector<int64_t>({7, 8});
  EXPECT_EQ(Tensor::map(keys, kA).shape(), Shape{2});
  EXPECT_NO_THROW(Tensor::map(Tensor::vector<std::string>({"a"}), Tensor::sequence({kA})));
  EXPECT_THROW(Tensor::map(keys, kB), Error);
  EXPECT_THROW(Tensor::map(kA, kA), Error) << "keys are not floats";
  EXPECT_THROW(Tensor::map(keys, Tensor::scalar(1.0F)), Error);
  EXPECT_THROW(Tensor::map(keys, Tensor::map(keys, kA)), Error);
}

TEST(Container, RefusesElementsOfSeveralTypes) {
  EXPECT_THROW(Tensor::sequence({kA, Tensor::vector<int64_t>({1})}), Error);
  EXPECT_THROW(Tensor::sequence({kA, Tensor::sequence({kA})}), Error);
  EXPECT_THROW(Tensor::sequence({kA, Tensor()}), Error);
}

TEST(Container, NestsOnlySoDeep) {
  Tensor t = kA;
  for (int i = 0; i < Tensor::kMaxContainerDepth; ++i) t = Tensor::optional(t);
  EXPECT_THROW(Tensor::optional(t), Error);
  EXPECT_THROW(Tensor::sequence({t}), Error);
}

TEST(Container, IsNoTensor) {
  Tensor s = Tensor::sequence({kA});
  for (const DType t : {DType::kSequence, DType::kOptional, DType::kMap}) {
    EXPECT_THROW(Tensor::allocate(t, {1}), Error);
    EXPECT_THROW(Tensor::zeros(t, {0}), Error);
    EXPECT_THROW(Tensor::view(t, {1}, nullptr, nullptr), Error);
    EXPECT_THROW(convert(kA, t), Error);
  }
  EXPECT_THROW(s.data(), Error);
  EXPECT_THROW(s.data<float>(), Error);
  EXPECT_THROW(s.span<int64_t>(), Error);
  EXPECT_THROW(s.mutable_data(), Error);
  EXPECT_THROW(s.mutable_data<float>(), Error);
  EXPECT_THROW(s.item<float>(), Error);
  EXPECT_THROW(s.to_int64(), Error);
  EXPECT_THROW(s.bitcast(DType::kOptional), Error);
  EXPECT_THROW(s.bitcast(DType::kString), Error);
  EXPECT_THROW(s.reshaped({1, 1}), Error);
  EXPECT_NO_THROW(s.reshaped({1}));
  EXPECT_THROW(convert(s, DType::kFloat32), Error);
  EXPECT_THROW(kA.elements(), Error);
  try {
    s.data<float>();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInternal);
    EXPECT_EQ(e.message(), "a value of type sequence was read as a tensor");
  }
}

TEST(Container, IsIdenticalWhenItsElementsAre) {
  const Tensor nan = Tensor::scalar(std::nanf(""));
  EXPECT_TRUE(Tensor::sequence({kA, kB}).identical(Tensor::sequence({Tensor::vector<float>({1, 2}), kB})));
  EXPECT_TRUE(Tensor::sequence({nan}).identical(Tensor::sequence({Tensor::scalar(std::nanf(""))})));
  EXPECT_FALSE(Tensor::sequence({kA, kB}).identical(Tensor::sequence({kB, kA})));
  EXPECT_FALSE(Tensor::sequence({kA}).identical(Tensor::sequence({kA, kA})));
  EXPECT_FALSE(Tensor::sequence({kA}).identical(Tensor::optional(kA)));
  EXPECT_TRUE(Tensor::sequence({}).identical(Tensor::sequence({})));
}

TEST(Container, MapLeavesKeepsTheForm) {
  const auto widen = [](const Tensor& t) { return is_float(t.dtype()) ? to_float64(t) : t; };
  const Tensor nested = Tensor::optional(Tensor::sequence({kA, kB}));
  const Tensor wide = map_leaves(nested, widen);
  EXPECT_EQ(wide.dtype(), DType::kOptional);
  EXPECT_TRUE(wide.elements()[0].elements()[0].identical(Tensor::vector<double>({1, 2})));
  EXPECT_TRUE(map_leaves(wide, widen).shares_storage(wide)) << "unchanged elements keep the container";
  const Tensor keys = Tensor::vector<int64_t>({7, 8});
  const Tensor m = map_leaves(Tensor::map(keys, kA), widen);
  EXPECT_TRUE(m.elements()[0].identical(keys));
  EXPECT_EQ(m.elements()[1].dtype(), DType::kFloat64);
  EXPECT_EQ(map_leaves(kA, widen).dtype(), DType::kFloat64);
  EXPECT_EQ(map_leaves(Tensor::optional({}), widen).numel(), 0);
  int leaves = 0;
  for_each_leaf(nested, [&](const Tensor&) { ++leaves; });
  EXPECT_EQ(leaves, 2);
}

TEST(Container, IsPrinted) {
  EXPECT_EQ(array_str(Tensor::sequence({kA, Tensor::from<float>({2, 1}, {1, 2})})),
            "[[1. 2.],\n [[1.]\n  [2.]]]");
  EXPECT_EQ(array_str(Tensor::sequence({})), "[]");
  EXPECT_EQ(array_str(Tensor::optional({})), "None");
  EXPECT_EQ(array_str(Tensor::optional(kB)), "[3.]");
  EXPECT_EQ(array_str(Tensor::map(Tensor::vector<int64_t>({7, 8}), kA)), "{[7 8]:\n [1. 2.]}");
}

}  // namespace
}  // namespace assay::container_test
