#include "debug/value_ranges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "graph/read.h"
#include "tensor/float_range.h"
#include "tensor/numbers.h"

namespace assay::debug {
namespace {

constexpr int kLargestInt8 = 127;
/// Eight classes an octave: three bits of the fraction.
constexpr int kClassBits = 3, kClassShift = 52 - kClassBits;
static_assert(TensorRange::kClasses == int64_t{1} << (11 + kClassBits));

int class_of(double magnitude) { return static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> kClassShift); }
double lower_end(int k) { return std::bit_cast<double>(static_cast<uint64_t>(k) << kClassShift); }

/// From here on a number rounds to infinity.
double overflow_bound(DType format) {
  const double largest = float_range(format).largest;
  return largest + std::ldexp(unit_roundoff(format), std::ilogb(largest));
}

double log2_ratio(double a, double b) {
  return b == 0 ? std::numeric_limits<double>::quiet_NaN() : std::log2(a / b);
}

}  // namespace

double TensorRange::headroom(DType format) const { return log2_ratio(float_range(format).largest, largest); }

double TensorRange::footroom(DType format) const {
  return -log2_ratio(float_range(format).smallest, smallest);
}

double TensorRange::lost_in_int8() const {
  const double bound = largest / kLargestInt8 / 2;
  double lost = 0, all = 0;
  for (const auto& [k, count] : magnitudes) {
    const double low = lower_end(k), high = lower_end(k + 1);
    all += static_cast<double>(count);
    lost += static_cast<double>(count) * std::clamp((bound - low) / (high - low), 0.0, 1.0);
  }
  return all == 0 ? 0 : lost / all;
}

double TensorRange::int8_noise_ratio() const {
  const double step = largest / kLargestInt8;
  const auto count = static_cast<double>(elements - nan - infinite);
  if (step == 0 || count == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(squares.value() / count / (step * step / 12));
}

const char* range_kind_name(TensorRange::Kind kind) {
  switch (kind) {
    case TensorRange::Kind::kInput:
      return "input";
    case TensorRange::Kind::kWeight:
      return "weight";
    default:
      return "result";
  }
}

RangeStudy::RangeStudy(std::vector<DType> formats)
    : formats_(std::move(formats)), classes_(TensorRange::kClasses) {
  for (const DType format : formats_) {
    require(
        format == DType::kInt8 || (is_float(format) && bit_width(format) <= 16), ErrorCode::kInvalidArgument,
        "{} is neither a floating type of 16 bits or less nor int8: give one of those", dtype_name(format));
    wants_magnitudes_ = wants_magnitudes_ || format == DType::kInt8;
    const FloatRange range = float_range(format);
    if (format == DType::kInt8)
      bounds_.push_back({std::numeric_limits<double>::infinity(), -1, -1});
    else
      bounds_.push_back({overflow_bound(format), range.smallest / 2, range.normal});
  }
}

RangeStudy::RangeStudy(std::shared_ptr<const Model> model, std::vector<DType> formats)
    : RangeStudy(std::move(formats)) {
  model_ = std::move(model);
  size_t position = 0;
  const Graph& g = *model_->graph;
  for (const Value* v : g.inputs) positions_.emplace(v, position++);
  for (const auto& n : g.nodes()) {
    for (const Value* v : n->inputs())
      if (v != nullptr) position += positions_.emplace(v, position).second ? 1 : 0;
    for (const Value* v : n->outputs())
      if (v != nullptr) position += positions_.emplace(v, position).second ? 1 : 0;
  }
}

TensorRange& RangeStudy::range_of(const Value& v) {
  const auto [it, is_new] = ranges_.try_emplace(v.name());
  if (is_new) {
    TensorRange& range = it->second;
    range.kind = v.is_constant()           ? TensorRange::Kind::kWeight
                 : v.producer() == nullptr ? TensorRange::Kind::kInput
                                           : TensorRange::Kind::kResult;
    range.tensor = v.name();
    if (v.producer() != nullptr) range.node = v.producer()->label();
    const auto position = positions_.find(&v);
    range.position = position != positions_.end() ? position->second : positions_.size();
    range.fits.resize(formats_.size());
  }
  return it->second;
}

void RangeStudy::add(const std::string& name, const Tensor& value) {
  const Value* v = model_->graph->find_value(name);
  if (v == nullptr || !is_float(value.dtype())) return;
  count(value, range_of(*v));
}

void RangeStudy::add_weights() {
  for (const auto& v : model_->graph->values()) {
    const UnalignedTensor* constant = constant_of(v.get());
    if (constant != nullptr && is_float(constant->dtype()) && !v->consumers().empty())
      count(constant->aligned(), range_of(*v));
  }
}

void RangeStudy::count(const Tensor& t, TensorRange& range) {
  range.dtype = t.dtype();
  range.elements += t.numel();
  double squares = 0;
  const auto take = [&](double x) {
    const double a = std::abs(x);
    if (!std::isfinite(a)) {
      ++(std::isnan(a) ? range.nan : range.infinite);
      for (size_t f = 0; f < formats_.size(); ++f)
        range.fits[f].overflow += std::isinf(a) && formats_[f] != DType::kInt8 ? 1 : 0;
      return;
    }
    if (a == 0) {
      ++range.zeros;
      return;
    }
    range.largest = std::max(range.largest, a);
    range.smallest = range.smallest == 0 ? a : std::min(range.smallest, a);
    squares += a * a;
    for (size_t f = 0; f < formats_.size(); ++f) {
      range.fits[f].overflow += a >= bounds_[f].overflow ? 1 : 0;
      range.fits[f].flushed += a <= bounds_[f].flush ? 1 : 0;
      range.fits[f].subnormal += a > bounds_[f].flush && a < bounds_[f].normal ? 1 : 0;
    }
    if (wants_magnitudes_) ++classes_[static_cast<size_t>(class_of(a))];
  };
  const TensorNumbers numbers(t);
  visit_kind(numbers.kind(), [&]<typename T>() {
    for_each_block<T>(numbers, 0, numbers.block_count(), [&](const T* p, int64_t count, int64_t) {
      for (int64_t i = 0; i < count; ++i) take(static_cast<double>(p[i]));
      return true;
    });
  });
  range.squares.add(std::min(squares, std::numeric_limits<double>::max()));
  if (!wants_magnitudes_ || range.largest == 0) return;
  for (int k = class_of(range.smallest); k <= class_of(range.largest); ++k)
    if (int64_t& n = classes_[static_cast<size_t>(k)]; n > 0) {
      range.magnitudes[k] += n;
      n = 0;
    }
}

namespace {

void add_range(TensorRange& to, const TensorRange& from) {
  to.elements += from.elements;
  to.zeros += from.zeros;
  to.nan += from.nan;
  to.infinite += from.infinite;
  to.largest = std::max(to.largest, from.largest);
  if (from.smallest != 0)
    to.smallest = to.smallest == 0 ? from.smallest : std::min(to.smallest, from.smallest);
  to.squares.add(from.squares);
  for (size_t f = 0; f < to.fits.size(); ++f) {
    to.fits[f].overflow += from.fits[f].overflow;
    to.fits[f].flushed += from.fits[f].flushed;
    to.fits[f].subnormal += from.fits[f].subnormal;
  }
  for (const auto& [k, count] : from.magnitudes) to.magnitudes[k] += count;
}

}  // namespace

void RangeStudy::add(const RangeStudy& other) {
  require(formats_ == other.formats_, ErrorCode::kInvalidArgument,
          "the types that numbers are held against differ");
  iterations_ += other.iterations_;
  for (const auto& [name, range] : other.ranges_) {
    const auto [known, is_new] = ranges_.try_emplace(name, range);
    if (!is_new) add_range(known->second, range);
  }
}

std::vector<const TensorRange*> RangeStudy::ranges() const {
  std::vector<const TensorRange*> all;
  for (const auto& [name, range] : ranges_) all.push_back(&range);
  std::sort(all.begin(), all.end(), [](const TensorRange* a, const TensorRange* b) {
    return std::tie(a->position, a->tensor) < std::tie(b->position, b->tensor);
  });
  return all;
}

std::vector<const TensorRange*> RangeStudy::ranked(DType format) const {
  const auto f = static_cast<size_t>(std::find(formats_.begin(), formats_.end(), format) - formats_.begin());
  require(f < formats_.size(), ErrorCode::kInvalidArgument,
          "the order is to be that of {}, which is none of the types that are looked at", dtype_name(format));
  // Smaller is worse.
  const auto key = [&](const TensorRange& r) -> std::tuple<double, double, double> {
    if (format == DType::kInt8) return {r.int8_noise_ratio(), -r.lost_in_int8(), 0};
    const auto elements = static_cast<double>(std::max<int64_t>(r.elements, 1));
    const auto numbers = static_cast<double>(std::max<int64_t>(r.elements - r.zeros - r.nan, 1));
    const double room = r.headroom(format);
    return {-static_cast<double>(r.fits[f].overflow) / elements,
            -static_cast<double>(r.fits[f].flushed) / numbers,
            std::isnan(room) ? std::numeric_limits<double>::infinity() : room};
  };
  std::vector<const TensorRange*> all = ranges();
  std::stable_sort(all.begin(), all.end(),
                   [&](const TensorRange* a, const TensorRange* b) { return key(*a) < key(*b); });
  return all;
}

}  // namespace assay::debug
