#include "kernels/copy/strided_copy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "assay/error.h"

namespace assay::kernels::strided_copy_test {
namespace {

template <typename T>
void check(const Shape& domain, const std::vector<int64_t>& in_strides,
           const std::vector<int64_t>& out_strides) {
  int64_t in_low = 0, in_high = 0, out_high = 0;
  for (size_t d = 0; d < domain.size(); ++d) {
    (in_strides[d] < 0 ? in_low : in_high) += (domain[d] - 1) * in_strides[d];
    out_high += (domain[d] - 1) * out_strides[d];
  }
  std::vector<T> in(static_cast<size_t>(in_high - in_low + 1));
  std::iota(in.begin(), in.end(), T(1));
  std::vector<T> out(static_cast<size_t>(out_high + 2), T(77)), expected = out;
  const int64_t count = domain.numel();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from = -in_low, to = 0;
    for (size_t d = domain.size(); d-- > 0; rest /= domain[d]) {
      from += rest % domain[d] * in_strides[d];
      to += rest % domain[d] * out_strides[d];
    }
    expected[to] = in[from];
  }
  const StridedCopy copy(domain, in_strides, out_strides, sizeof(T));
  copy.run(in.data() - in_low, out.data());
  EXPECT_EQ(out, expected) << domain.str();
}

TEST(StridedCopy, MatchesAPlainLoop) {
  check<float>({}, {}, {});
  check<float>({40000}, {1}, {1});
  check<double>({5, 7}, {7, 1}, {1, 5});
  check<float>({70, 45}, {1, 70}, {45, 1});
  check<uint16_t>({2, 3, 4, 5}, {60, 20, 5, 1}, {60, 1, 15, 3});
  check<float>({1, 12, 9, 64}, {6912, 64, 768, 1}, {6912, 576, 64, 1});
  check<uint8_t>({4, 6}, {0, 1}, {6, 1});
  check<uint8_t>({4, 6}, {1, 0}, {6, 1});
  check<int64_t>({9, 4}, {-8, -2}, {4, 1});
  check<float>({3, 1000}, {1000, 1}, {3000, 1});
  // Blocks of 16 channels to channels last and back; odd sides of squares; columns that are not neighbours.
  check<float>({2, 3, 35, 16}, {1680, 560, 16, 1}, {1680, 16, 48, 1});
  check<float>({2, 3, 35, 16}, {1680, 16, 48, 1}, {1680, 560, 16, 1});
  check<float>({37, 51}, {1, 37}, {51, 1});
  check<float>({19, 22}, {1, 19}, {44, 2});
  check<uint16_t>({37, 51}, {1, 37}, {51, 1});
}

TEST(StridedCopy, RandomPermutationsOfDenseTensors) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const size_t rank = 1 + random() % 5;
    Shape domain;
    for (size_t d = 0; d < rank; ++d) domain.push_back(1 + random() % 9);
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<int64_t> out(rank);
    int64_t stride = 1;
    for (size_t k = rank; k-- > 0; stride *= domain[order[k]]) out[order[k]] = stride;
    check<float>(domain, domain.strides(), out);
    check<uint8_t>(domain, domain.strides(), out);
  }
}

TEST(StridedCopy, EmptyDomainsMoveNothing) {
  int32_t in = 1, out = 2;
  StridedCopy({0, 3}, {3, 1}, {3, 1}, 4).run(&in, &out);
  StridedCopy({3, 0}, {0, 1}, {0, 1}, 4).run(&in, &out);
  EXPECT_EQ(out, 2);
}

TEST(StridedCopy, RefusesOddElementSizes) { EXPECT_THROW(StridedCopy({2}, {1}, {1}, 3), Error); }

}  // namespace
}  // namespace assay::kernels::strided_copy_test
