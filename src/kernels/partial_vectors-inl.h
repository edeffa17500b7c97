// The first lanes of vectors in memory. Highway's MaskedLoad and BlendedStore touch the whole vector where an
// instruction set has no masks (SSE, NEON): beyond the end of a tensor that is memory of others, or none.
#if defined(ASSAY_KERNELS_PARTIAL_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_PARTIAL_VECTORS_INL_H_
#undef ASSAY_KERNELS_PARTIAL_VECTORS_INL_H_
#else
#define ASSAY_KERNELS_PARTIAL_VECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {

/// The first n < Lanes(d) elements at p; the other lanes are 0. Only these elements are touched.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_first(D d, const float* p, size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) float lanes[hn::MaxLanes(D())] = {};
  for (size_t i = 0; i < n; ++i) lanes[i] = p[i];
  return hn::Load(d, lanes);
#else
  return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#endif
}

/// Stores the first n < Lanes(d) lanes, and touches nothing else.
template <class D>
HWY_INLINE void store_first(D d, hwy::HWY_NAMESPACE::Vec<D> v, float* p, size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) float lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < n; ++i) p[i] = lanes[i];
#else
  hn::BlendedStore(v, hn::FirstN(d, n), d, p);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#endif  // ASSAY_KERNELS_PARTIAL_VECTORS_INL_H_
