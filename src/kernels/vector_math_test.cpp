#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

// Every instruction set that this processor may have, those that the kernels leave out among them.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector_math_test.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "kernels/activations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// `end` is the end of memory that may be touched.
template <class D>
void move_partial(D d, float* end) {
  const size_t lanes = hn::Lanes(d);
  for (size_t n = 1; n < lanes; ++n) {
    float* const p = end - n;
    p[-1] = 77;
    for (size_t i = 0; i < n; ++i) p[i] = static_cast<float>(i + 1);
    const auto v = load_first(d, p, n);
    alignas(64) float whole[hn::MaxLanes(D())];
    hn::Store(v, d, whole);
    for (size_t i = 0; i < lanes; ++i)
      EXPECT_EQ(whole[i], i < n ? static_cast<float>(i + 1) : 0) << hwy::TargetName(HWY_TARGET) << " " << n;
    store_first(d, hn::Add(v, v), p, n);
    for (size_t i = 0; i < n; ++i)
      EXPECT_EQ(p[i], static_cast<float>(2 * i + 2)) << hwy::TargetName(HWY_TARGET) << " " << n;
    EXPECT_EQ(p[-1], 77);
  }
}

void move_partial_vectors(float* end) {
  move_partial(F(), end);
  move_partial(hn::CappedTag<float, 16>(), end);
  move_partial(hn::CappedTag<float, 8>(), end);
  move_partial(hn::CappedTag<float, 4>(), end);
}

/// The bits of function(vector) are those of function(vectors), whatever lies beside it.
template <typename Function>
void compare_together(const std::vector<float>& x, const char* name, Function function) {
  const size_t lanes = hn::Lanes(F()), step = kTogether * lanes;
  std::vector<float> one(lanes), together(step);
  for (size_t i = 0; i + step <= x.size(); i += step) {
    store_together(function(load_together(x.data() + i)), together.data());
    for (size_t k = 0; k < step; k += lanes) {
      hn::StoreU(function(hn::LoadU(F(), x.data() + i + k)), F(), one.data());
      for (size_t l = 0; l < lanes; ++l)
        EXPECT_TRUE(std::memcmp(&one[l], &together[k + l], sizeof(float)) == 0 ||
                    (std::isnan(one[l]) && std::isnan(together[k + l])))
            << name << " of " << x[i + k + l] << ": " << one[l] << ", " << together[k + l];
    }
  }
}

void compare_functions_together() {
  std::vector<float> x = {0,   -0.0F,    1e-40F,    -1e-40F,
                          NAN, INFINITY, -INFINITY, std::numeric_limits<float>::max()};
  for (float v = -120; v < 120; v += 0.37F) x.push_back(v);
  for (float v = -4; v < 4; v += 0.019F) x.push_back(v);
  x.resize(x.size() / 64 * 64);
  compare_together(x, "exp", [](const auto& v) HWY_ATTR { return exp(v); });
  compare_together(x, "sigmoid", [](const auto& v) HWY_ATTR { return sigmoid(v); });
  compare_together(x, "tanh", [](const auto& v) HWY_ATTR { return tanh(v); });
  compare_together(x, "erf", [](const auto& v) HWY_ATTR { return erf(v); });
  compare_together(x, "gelu", [](const auto& v) HWY_ATTR { return gelu(v); });
  compare_together(x, "gelu_tanh", [](const auto& v) HWY_ATTR { return gelu_tanh(v); });
  compare_together(x, "silu", [](const auto& v) HWY_ATTR { return silu(v); });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

/// A masked access of SSE and NEON is a whole one: it read and wrote what lies behind an operand.
TEST(VectorMath, PartialVectorsTouchNothingElse) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + page, page, PROT_NONE), 0);
  auto* const end = reinterpret_cast<float*>(static_cast<char*>(pages) + page);
  HWY_STATIC_DISPATCH(move_partial_vectors)(end);
#if HWY_TARGETS & HWY_SSSE3
  if (hwy::SupportedTargets() & HWY_SSSE3) N_SSSE3::move_partial_vectors(end);
#endif
#if HWY_TARGETS & HWY_SSE4
  if (hwy::SupportedTargets() & HWY_SSE4) N_SSE4::move_partial_vectors(end);
#endif
#if HWY_TARGETS & HWY_AVX2
  if (hwy::SupportedTargets() & HWY_AVX2) N_AVX2::move_partial_vectors(end);
#endif
#if HWY_TARGETS & HWY_AVX3
  if (hwy::SupportedTargets() & HWY_AVX3) N_AVX3::move_partial_vectors(end);
#endif
  ::munmap(pages, 2 * page);
}

TEST(VectorMath, SeveralVectorsAreAsOne) {
  HWY_STATIC_DISPATCH(compare_functions_together)();
#if HWY_TARGETS & HWY_SSE4
  if (hwy::SupportedTargets() & HWY_SSE4) N_SSE4::compare_functions_together();
#endif
#if HWY_TARGETS & HWY_AVX2
  if (hwy::SupportedTargets() & HWY_AVX2) N_AVX2::compare_functions_together();
#endif
#if HWY_TARGETS & HWY_AVX3
  if (hwy::SupportedTargets() & HWY_AVX3) N_AVX3::compare_functions_together();
#endif
}

}  // namespace
}  // namespace assay::kernels
#endif
