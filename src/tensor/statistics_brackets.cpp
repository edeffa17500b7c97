#include "tensor/statistics_brackets.h"

#include <array>
#include <utility>

namespace assay::internal {
namespace {

constexpr int64_t kSampledBlocks = 1024;  // at most

/// Elements from blocks spread evenly, at places in them that follow no pattern.
template <typename T>
std::vector<T> take_sample(const Numbers& numbers) {
  const int64_t wanted = std::clamp<int64_t>(numbers.size() / 96, 512, 1 << 19);
  const int64_t blocks = std::min(numbers.block_count(), kSampledBlocks);
  const int64_t per_block = (wanted + blocks - 1) / blocks;
  std::vector<T> sample;
  sample.reserve(static_cast<size_t>(blocks * per_block));
  Numbers::Scratch scratch;
  uint64_t state = 0;
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t index = b * numbers.block_count() / blocks;
    const T* p = static_cast<const T*>(numbers.block(index, scratch));
    const auto n = static_cast<uint64_t>(numbers.block_size(index));
    for (int64_t i = 0; i < per_block; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sample.push_back(p[(state >> 40) % n]);
    }
  }
  return sample;
}

/// The sample's element at a position; no limit if that is out of range.
template <typename T>
T order_statistic(std::vector<T>& sample, double place) {
  using Limits = std::numeric_limits<T>;
  if (place < 0) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (place >= static_cast<double>(sample.size()))
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(sample.begin(), at, sample.end());
  return *at;
}

}  // namespace

template <typename T>
Brackets<T> Brackets<T>::from_sample(const Numbers& numbers, std::span<const RankPair> ranks) {
  Brackets made;
  if (numbers.size() < kMinElements) return made;
  std::vector<T> sample = take_sample<T>(numbers);
  if (std::any_of(sample.begin(), sample.end(), [](T x) { return x != x; })) return made;
  const auto size = static_cast<double>(sample.size()), count = static_cast<double>(numbers.size());
  for (const RankPair& r : ranks) {
    const double low = static_cast<double>(r.below) / count, high = static_cast<double>(r.above + 1) / count;
    const double margin =
        1 + 3 * std::sqrt(size * low * (1 - low));  // three standard deviations of the sample's rank
    made.brackets_.push_back({.low = order_statistic(sample, low * size - margin),
                              .high = order_statistic(sample, high * size + margin)});
  }
  return made;
}

template <typename T>
template <bool kGathers>
void Brackets<T>::count(Bracket& bracket, const T* p, int64_t n, Mask* inside) const {
  const T low = bracket.low, high = bracket.high;
  Mask below_low = 0, upto_low = 0, below_high = 0, upto_high = 0;
#pragma omp simd reduction(+ : below_low, upto_low, below_high, upto_high)
  for (int64_t i = 0; i < n; ++i) {
    const T x = p[i];
    const Mask is_upto_low = x <= low ? Mask{1} : Mask{0}, is_below_high = x < high ? Mask{1} : Mask{0};
    const Mask is_below_low = x < low ? Mask{1} : Mask{0}, is_upto_high = x <= high ? Mask{1} : Mask{0};
    below_low += is_below_low;
    upto_low += is_upto_low;
    below_high += is_below_high;
    upto_high += is_upto_high;
    if constexpr (kGathers) inside[i] += is_below_high - is_upto_low;
  }
  bracket.below_low += static_cast<int64_t>(below_low);
  bracket.upto_low += static_cast<int64_t>(upto_low);
  bracket.below_high += static_cast<int64_t>(below_high);
  bracket.upto_high += static_cast<int64_t>(upto_high);
}

template <typename T>
void Brackets<T>::scan(const T* p, int64_t n) {
  if (brackets_.empty() || overflowed_) return;
  std::array<Mask, Numbers::kBlock> inside{};
  for (Bracket& b : brackets_) {
    if (b.low < b.high) {
      count<true>(b, p, n, inside.data());
    } else {
      count<false>(b, p, n, inside.data());
    }
  }
  gather(p, inside.data(), n);
}

template <typename T>
void Brackets<T>::gather(const T* p, const Mask* inside, int64_t n) {
  const size_t old = gathered_.size();
  if (old > kMaxGathered) {
    overflowed_ = true;
    gathered_ = {};
    return;
  }
  gathered_.resize(old + static_cast<size_t>(n));
  T* out = gathered_.data() + old;
  size_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    out[count] = p[i];
    count += inside[i] != 0 ? 1 : 0;
  }
  gathered_.resize(old + count);
}

template <typename T>
void Brackets<T>::merge(const Brackets& other) {
  for (size_t i = 0; i < brackets_.size(); ++i) {
    brackets_[i].below_low += other.brackets_[i].below_low;
    brackets_[i].upto_low += other.brackets_[i].upto_low;
    brackets_[i].below_high += other.brackets_[i].below_high;
    brackets_[i].upto_high += other.brackets_[i].upto_high;
  }
  gathered_.insert(gathered_.end(), other.gathered_.begin(), other.gathered_.end());
  overflowed_ |= other.overflowed_ || gathered_.size() > kMaxGathered;
}

template <typename T>
std::optional<std::vector<ValuePair>> Brackets<T>::values(std::span<const RankPair> ranks) const {
  if (brackets_.empty() || overflowed_) return std::nullopt;
  std::vector<ValuePair> values(ranks.size());
  std::vector<RankPair> among_gathered;
  std::vector<double*> places;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Bracket& b = brackets_[i];
    const auto less = std::count_if(gathered_.begin(), gathered_.end(), [&](T x) { return x <= b.low; });
    for (const auto& [rank, value] :
         {std::pair(ranks[i].below, &values[i].below), {ranks[i].above, &values[i].above}}) {
      if (rank < b.below_low || rank >= b.upto_high) return std::nullopt;
      *value = static_cast<double>(rank < b.upto_low ? b.low : b.high) + 0.0;
      if (rank < b.upto_low || rank >= b.below_high) continue;
      const int64_t place = rank - b.upto_low + less;
      among_gathered.push_back({place, place});
      places.push_back(value);
    }
  }
  if (among_gathered.empty()) return values;
  const Shape shape{static_cast<int64_t>(gathered_.size())};
  const TensorNumbers gathered(Tensor::view(dtype_of<T>(), shape, gathered_.data(), nullptr));
  const std::vector<ValuePair> found = select_by_radix(gathered, among_gathered);
  for (size_t i = 0; i < places.size(); ++i) *places[i] = found[i].below;
  return values;
}

template class Brackets<float>;
template class Brackets<double>;
template class Brackets<int64_t>;
template class Brackets<uint64_t>;

}  // namespace assay::internal
