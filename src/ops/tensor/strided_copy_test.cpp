#include "ops/tensor/strided_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "ops/tensor/elements.h"

namespace assay::strided_copy_test {
namespace {

/// A tensor whose neighbouring elements differ as far as the type allows.
Tensor numbered(DType dtype, const Shape& shape) {
  Tensor t = Tensor::zeros(unpacked_dtype(dtype), shape);
  visit_elements(t.dtype(), [&]<typename E>() {
    E* p = mutable_elements<E>(t);
    for (int64_t i = 0; i < t.numel(); ++i) {
      const auto number = static_cast<uint64_t>(i * 7 + 1);
      if constexpr (std::is_same_v<E, std::string>) {
        p[i] = "element number " + std::to_string(number);
      } else {
        for (size_t b = 0; b < sizeof(E); ++b) p[i].bytes[b] = static_cast<std::byte>(number >> (b % 8 * 8));
        if (is_packed(dtype)) p[i].bytes[0] &= static_cast<std::byte>((1 << bit_width(dtype)) - 1);
      }
    }
  });
  return repacked(std::move(t), dtype);
}

/// Element i as text, whatever the type.
std::string element(const Tensor& t, int64_t i) {
  std::string text;
  const Tensor wide = unpacked(t);
  visit_elements(wide.dtype(), [&]<typename E>() {
    const E& e = elements<E>(wide)[i];
    if constexpr (std::is_same_v<E, std::string>)
      text = e;
    else
      for (const std::byte b : e.bytes) text += static_cast<char>(b);
  });
  return text;
}

/// Compares copy_region with its definition, element by element.
void expect_region(const Tensor& src, const Region& from, const Shape& extents) {
  const Tensor out = copy_region(src, from, extents);
  ASSERT_EQ(out.shape(), extents);
  ASSERT_EQ(out.dtype(), src.dtype());
  for (int64_t i = 0; i < out.numel(); ++i) {
    int64_t at = from.offset, rest = i;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d]) at += rest % extents[d] * from.strides[d];
    ASSERT_EQ(element(out, i), element(src, at))
        << dtype_name(src.dtype()) << extents.str() << " element " << i;
  }
}

TEST(StridedCopy, MovesEveryElementType) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    const Tensor t = numbered(dtype, {3, 5, 7});
    expect_region(t, {0, {1, 7, 35}}, {7, 5, 3});       // all dimensions reversed
    expect_region(t, {104, {-35, -7, -1}}, {3, 5, 7});  // backwards
    expect_region(t, {8, {35, 0, 2}}, {3, 4, 3});       // repeated rows of every second element
    expect_region(t, {0, {}}, {});
    expect_region(t, {0, {35, 7, 1}}, {3, 0, 7});
  }
}

TEST(StridedCopy, ShortRunsThatChangePlaces) {
  for (const int64_t run : {4, 8, 16}) {
    const Tensor t = numbered(DType::kFloat32, {13, 21, run});
    expect_region(t, {0, {run, 21 * run, 1}}, {21, 13, run});
    expect_region(t, {20 * run, {-run, 21 * run, 1}}, {21, 13, run});
    expect_region(t, {run, {2 * run, 21 * run, 1}}, {10, 9, run});
  }
}

TEST(StridedCopy, AgreesWithItsDefinitionOnRandomPermutations) {
  std::mt19937 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  constexpr DType kTypes[] = {DType::kInt8,       DType::kFloat16, DType::kFloat32, DType::kInt64,
                              DType::kComplex128, DType::kString,  DType::kInt4};
  for (int trial = 0; trial < 70; ++trial) {
    Shape shape;
    for (int64_t d = pick(1, 5); d > 0; --d) shape.push_back(pick(1, 3) == 1 ? pick(1, 40) : pick(1, 4));
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    Region from;
    Shape out;
    for (const size_t d : order) {
      out.push_back(shape[d]);
      from.strides.push_back(shape.strides()[d]);
    }
    if (shape.numel() < 6000) expect_region(numbered(kTypes[trial % std::size(kTypes)], shape), from, out);
  }
}

TEST(StridedCopy, FillsOnlyItsRegionOfTheDestination) {
  Tensor to = Tensor::zeros(DType::kInt32, {4, 4});
  const Tensor from = Tensor::from<int32_t>({2, 2}, {1, 2, 3, 4});
  strided_copy(from, {0, {2, 1}}, to, {5, {4, 1}}, {2, 2});
  const std::vector<int32_t> expected = {0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0};
  EXPECT_TRUE(std::ranges::equal(to.span<int32_t>(), expected));
}

TEST(StridedCopy, RefusesAnAbsurdSizeBeforeItAllocates) {
  const Tensor one = Tensor::scalar(1.0f);
  EXPECT_THROW(copy_region(one, {0, {0, 0}}, {1 << 20, 1 << 20}), Error);
  EXPECT_THROW(copy_region(one, {0, {0, 0}}, {INT64_MAX, 2}), Error);
}

TEST(Elements, PackedTypesUnpackAndPackAgain) {
  for (const DType dtype :
       {DType::kUInt4, DType::kInt4, DType::kFloat4E2M1, DType::kUInt2, DType::kInt2, DType::kFloat6E2M3}) {
    const Tensor t = numbered(dtype, {3, 3});  // nine elements leave the last byte part empty
    EXPECT_TRUE(repacked(unpacked(t), dtype).identical(t)) << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace assay::strided_copy_test
