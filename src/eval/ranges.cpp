#include "eval/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "assay/error.h"

namespace assay::eval {
namespace {

bool read_number(std::string_view text, int64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && number >= 0;
}

}  // namespace

Ranges Ranges::parse(std::string_view text) {
  Ranges ranges;
  for (size_t at = 0; at <= text.size();) {
    const std::string_view word = text.substr(at, text.find(',', at) - at);
    at += word.size() + 1;
    const size_t colon = word.find(':');
    Range r;
    require(colon != std::string_view::npos && read_number(word.substr(0, colon), r.first) &&
                read_number(word.substr(colon + 1), r.end) && r.first < r.end,
            ErrorCode::kInvalidArgument,
            "'{}' is no range of samples: FIRST:END names those from FIRST on, up to the one before END",
            word);
    require(ranges.common({r.first, r.end}).empty(), ErrorCode::kInvalidArgument,
            "'{}' has samples that another range has", word);
    ranges.add(r.first, r.end);
  }
  return ranges;
}

void Ranges::add(int64_t first, int64_t end) {
  if (first >= end) return;
  // Mostly at the end.
  const auto begin = std::lower_bound(list_.begin(), list_.end(), first,
                                      [](const Range& r, int64_t sample) { return r.end < sample; });
  auto last = begin;
  for (; last != list_.end() && last->first <= end; ++last) {
    first = std::min(first, last->first);
    end = std::max(end, last->end);
  }
  list_.insert(list_.erase(begin, last), Range{first, end});
}

void Ranges::add(const Ranges& other) {
  for (const Range& r : other.list_) add(r.first, r.end);
}

bool Ranges::contains(int64_t sample) const {
  const auto after = std::upper_bound(list_.begin(), list_.end(), sample,
                                      [](int64_t s, const Range& r) { return s < r.first; });
  return after != list_.begin() && sample < std::prev(after)->end;
}

int64_t Ranges::count() const {
  int64_t count = 0;
  for (const Range& r : list_) count += r.end - r.first;
  return count;
}

Ranges Ranges::common(const Ranges& other) const {
  Ranges common;
  for (size_t i = 0, j = 0; i < list_.size() && j < other.list_.size();) {
    const Range &a = list_[i], &b = other.list_[j];
    common.add(std::max(a.first, b.first), std::min(a.end, b.end));
    a.end < b.end ? ++i : ++j;
  }
  return common;
}

Ranges Ranges::without(const Ranges& other) const {
  Ranges left;
  auto taken = other.list_.begin();
  for (const Range& r : list_) {
    int64_t first = r.first;
    while (taken != other.list_.end() && taken->end <= first) ++taken;
    for (auto t = taken; t != other.list_.end() && t->first < r.end; ++t) {
      left.add(first, t->first);
      first = std::max(first, t->end);
    }
    left.add(first, r.end);
  }
  return left;
}

std::string Ranges::text() const {
  std::string text;
  for (const Range& r : list_) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", r.first, r.end);
  return text;
}

}  // namespace assay::eval
