#include "kernels/rates/machine_rates.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "base/parallel.h"
#include "kernels/int8/int8_product.h"
#include "kernels/panel/panel_product.h"
#include "kernels/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rates/machine_rates.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace HWY_NAMESPACE {
namespace rates {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;

/// More than latency times throughput of any multiply-add, and no more than there are registers.
constexpr int kChains = 12;

/// How many multiply-adds it was; `result` keeps the work from being left out.
int64_t multiply_add(int64_t rounds, float& result) {
  const F f;
  hn::Vec<F> sums[kChains];
  ASSAY_UNROLL
  for (int i = 0; i < kChains; ++i) sums[i] = hn::Set(f, static_cast<float>(i));
  const auto factor = hn::Set(f, 0.5f), addend = hn::Set(f, 1.0f);
  for (int64_t r = 0; r < rounds; ++r) {
    ASSAY_UNROLL
    for (int i = 0; i < kChains; ++i) sums[i] = hn::MulAdd(sums[i], factor, addend);
  }
  auto all = sums[0];
  for (int i = 1; i < kChains; ++i) all = hn::Add(all, sums[i]);
  result = hn::GetLane(hn::SumOfLanes(f, all));
  return rounds * kChains * static_cast<int64_t>(hn::Lanes(f));
}

float sum(const float* x, int64_t count) {
  const F f;
  constexpr int kSums = 8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(f));
  hn::Vec<F> sums[kSums];
  ASSAY_UNROLL
  for (int i = 0; i < kSums; ++i) sums[i] = hn::Zero(f);
  int64_t at = 0;
  for (; at + kSums * lanes <= count; at += kSums * lanes) {
    ASSAY_UNROLL
    for (int i = 0; i < kSums; ++i) sums[i] = hn::Add(sums[i], hn::LoadU(f, x + at + i * lanes));
  }
  auto all = sums[0];
  for (int i = 1; i < kSums; ++i) all = hn::Add(all, sums[i]);
  float result = hn::GetLane(hn::SumOfLanes(f, all));
  for (; at < count; ++at) result += x[at];
  return result;
}

}  // namespace rates

int64_t count_multiply_adds(int64_t rounds, float& result) { return rates::multiply_add(rounds, result); }
float read_all(const float* x, int64_t count) { return rates::sum(x, count); }

}  // namespace HWY_NAMESPACE
}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the compiler must believe to be used.
std::atomic<float> kept{0};

/// Calls work(part), which returns what it did, on every thread at once until `seconds` are over; the best
/// rate.
template <typename Work>
double best_rate(double seconds, const Work& work) {
  const double end = seconds_now() + seconds;
  double best = 0;
  do {
    std::atomic<int64_t> done{0};
    const double begin = seconds_now();
    parallel_for(thread_count(), 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) done += work(part);
    });
    best = std::max(best, static_cast<double>(done.load()) / std::max(1e-9, seconds_now() - begin));
  } while (seconds_now() < end);
  return best;
}

}  // namespace

HWY_EXPORT(count_multiply_adds);
HWY_EXPORT(read_all);

double measure_multiply_adds(double seconds) {
  constexpr int64_t kRounds = 200'000;  // about a millisecond: waking threads does not count
  return best_rate(seconds, [](int64_t) {
    float result = 0;
    const int64_t operations = HWY_DYNAMIC_DISPATCH(count_multiply_adds)(kRounds, result);
    kept = result;
    return operations;
  });
}

namespace {

/// The operands of a product that stay in the first-level cache.
constexpr int64_t kProductRows = 32, kProductColumns = 32, kProductDepth = 512;
constexpr int64_t kProductRounds = 1000;
constexpr int64_t kProductOperations = kProductRounds * kProductRows * kProductColumns * kProductDepth;

}  // namespace

double measure_int8_multiply_adds(double seconds) {
  const Int8Weights w{kProductColumns, kProductDepth};
  const std::vector<int16_t> numbers(kProductColumns * kProductDepth, 1);
  std::vector<char> packed(static_cast<size_t>(w.bytes()));
  pack_int8_weights(w, numbers.data(), kProductColumns, 1, packed.data());
  const std::vector<uint8_t> rows(kProductRows * kProductDepth, 1);
  return best_rate(seconds, [&](int64_t) {
    std::vector<int32_t> sums(kProductRows * kProductColumns);
    for (int64_t i = 0; i < kProductRounds; ++i)
      int8_product(w, packed.data(), 0, w.panels(), {rows.data(), kProductDepth, 0}, kProductRows,
                   sums.data(), kProductColumns);
    kept = static_cast<float>(sums.front());
    return kProductOperations;
  });
}

double measure_bfloat16_multiply_adds(double seconds) {
  if (!multiplies_bfloat16()) return 0;
  const PanelMatrix m{kProductColumns, kProductDepth, DType::kBFloat16};
  const std::vector<float> numbers(kProductColumns * kProductDepth, 1);
  std::vector<char> packed(static_cast<size_t>(m.bytes()));
  pack_panels(m, numbers.data(), kProductColumns, 1, packed.data());
  const std::vector<uint16_t> rows(kProductRows * kProductDepth, 0x3F80);
  return best_rate(seconds, [&](int64_t) {
    std::vector<float> sums(kProductRows * kProductColumns);
    for (int64_t i = 0; i < kProductRounds; ++i)
      bfloat16_product(m, packed.data(), 0, m.panels(), rows.data(), kProductDepth, kProductRows, nullptr,
                       sums.data(), kProductColumns);
    kept = sums.front();
    return kProductOperations;
  });
}

double measure_reading(int64_t bytes, double seconds) {
  constexpr int64_t kMin = 8 << 20;  // read in one go: waking threads does not count
  const int64_t count = std::max<int64_t>(1, bytes / 4 / thread_count());
  std::vector<std::unique_ptr<float[]>> areas(static_cast<size_t>(thread_count()));
  parallel_for(thread_count(), 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part)
      areas[static_cast<size_t>(part)] = std::make_unique<float[]>(static_cast<size_t>(count));
  });
  return best_rate(seconds, [&](int64_t part) {
    int64_t read = 0;
    do {
      kept = HWY_DYNAMIC_DISPATCH(read_all)(areas[static_cast<size_t>(part)].get(), count);
      read += 4 * count;
    } while (read < kMin);
    return read;
  });
}

}  // namespace assay::kernels
#endif
