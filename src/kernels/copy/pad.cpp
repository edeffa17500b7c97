#include "kernels/copy/pad.h"

#include <algorithm>
#include <cstring>

#include "assay/error.h"
#include "base/parallel.h"

namespace assay::kernels {
namespace {

/// Bytes that a thread should write at least.
constexpr int64_t kPadGrain = 65536;

std::vector<int64_t> sources_of(int64_t extent, int64_t begin, int64_t end, PadMode mode) {
  const int64_t cut = std::max<int64_t>(-begin, 0);
  const int64_t n = extent - cut - std::max<int64_t>(-end, 0);
  const int64_t before = std::max<int64_t>(begin, 0);
  require(n >= 0, ErrorCode::kInternal, "{} and {} cut more than {} elements", begin, end, extent);
  const int64_t count = before + n + std::max<int64_t>(end, 0);
  require(n > 0 || mode == PadMode::kConstant || count == 0, ErrorCode::kInternal,
          "an axis without elements is padded from itself");
  std::vector<int64_t> sources(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = i - before;
    if (mode == PadMode::kConstant) {
      if (at < 0 || at >= n) at = -1;
    } else if (mode == PadMode::kEdge || n == 1) {
      at = std::clamp<int64_t>(at, 0, n - 1);
    } else {
      const int64_t period = mode == PadMode::kWrap ? n : 2 * (n - 1);
      at = (at % period + period) % period;
      if (at >= n) at = period - at;
    }
    sources[static_cast<size_t>(i)] = at < 0 ? -1 : cut + at;
  }
  return sources;
}

void fill_elements(char* out, const char* value, size_t element_bytes, size_t bytes) {
  if (element_bytes == 1) {
    std::memset(out, *value, bytes);
    return;
  }
  for (size_t at = 0; at < bytes; at += element_bytes) std::memcpy(out + at, value, element_bytes);
}

}  // namespace

PadCopy::PadCopy(const Shape& in, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                 PadMode mode, size_t element_bytes)
    : in_(in), element_bytes_(element_bytes) {
  require(begin.size() == in.size() && end.size() == in.size(), ErrorCode::kInternal, "{} and {} pads for {}",
          begin.size(), end.size(), in.str());
  for (size_t d = 0; d < in.size(); ++d) {
    sources_.push_back(sources_of(in[d], begin[d], end[d], mode));
    out_.push_back(static_cast<int64_t>(sources_.back().size()));
    if (begin[d] != 0 || end[d] != 0) last_ = d;
  }
  if (in.size() == 0) {
    in_ = out_ = Shape{1};
    sources_ = {{0}};
  }
  const std::vector<int64_t>& sources = sources_[last_];
  const int64_t before = begin.empty() ? 0 : std::max<int64_t>(begin[last_], 0);
  direct_ = before;
  for (size_t i = static_cast<size_t>(before); i < sources.size(); ++i, ++directs_)
    if (sources[i] < 0 || sources[i] != sources[static_cast<size_t>(before)] + directs_) break;
  rows_ = out_.numel(0, last_);
  unit_ = static_cast<size_t>(in_.numel(last_ + 1, in_.size())) * element_bytes;
}

void PadCopy::run_rows(const char* in, char* out, const char* value, int64_t first, int64_t last) const {
  const std::vector<int64_t>& sources = sources_[last_];
  const auto count = static_cast<int64_t>(sources.size());
  for (int64_t row = first; row < last; ++row) {
    int64_t from = 0, rest = row, stride = 1;
    for (size_t d = last_; d-- > 0; rest /= out_[d]) {
      const int64_t source = sources_[d][static_cast<size_t>(rest % out_[d])];
      from = source < 0 || from < 0 ? -1 : from + source * stride;
      stride *= in_[d];
    }
    char* to = out + static_cast<size_t>(row * count) * unit_;
    if (from < 0) {
      fill_elements(to, value, element_bytes_, static_cast<size_t>(count) * unit_);
      continue;
    }
    const char* begin = in + static_cast<size_t>(from * in_[last_]) * unit_;
    const auto single = [&](int64_t i) {
      const int64_t source = sources[static_cast<size_t>(i)];
      if (source < 0)
        fill_elements(to + static_cast<size_t>(i) * unit_, value, element_bytes_, unit_);
      else
        std::memcpy(to + static_cast<size_t>(i) * unit_, begin + static_cast<size_t>(source) * unit_, unit_);
    };
    for (int64_t i = 0; i < direct_; ++i) single(i);
    if (directs_ > 0)
      std::memcpy(to + static_cast<size_t>(direct_) * unit_,
                  begin + static_cast<size_t>(sources[static_cast<size_t>(direct_)]) * unit_,
                  static_cast<size_t>(directs_) * unit_);
    for (int64_t i = direct_ + directs_; i < count; ++i) single(i);
  }
}

void PadCopy::run(const void* in, void* out, const void* value) const noexcept {
  const int64_t row_bytes = std::max<int64_t>(static_cast<int64_t>(sources_[last_].size() * unit_), 1);
  parallel_for(rows_, std::max<int64_t>(1, kPadGrain / row_bytes), [&](int64_t first, int64_t last) {
    run_rows(static_cast<const char*>(in), static_cast<char*>(out), static_cast<const char*>(value), first,
             last);
  });
}

}  // namespace assay::kernels
