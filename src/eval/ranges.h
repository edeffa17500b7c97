// Sets of sample numbers, as ranges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::eval {

/// The samples [first, end).
struct Range {
  int64_t first = 0, end = 0;
  bool operator==(const Range&) const = default;
};

/// Ranges in order that neither touch nor overlap, and none of which is empty.
class Ranges {
 public:
  Ranges() = default;
  /// [first, end), or nothing.
  Ranges(int64_t first, int64_t end) { add(first, end); }
  /// `0:100,250:300`. Throws Error (kInvalidArgument) for anything else, and for empty and overlapping
  /// ranges.
  static Ranges parse(std::string_view text);

  /// The union with [first, end).
  void add(int64_t first, int64_t end);
  void add(const Ranges& other);
  bool contains(int64_t sample) const;
  int64_t count() const;
  bool empty() const { return list_.empty(); }
  /// The samples in both, and those in this one only.
  Ranges common(const Ranges& other) const;
  Ranges without(const Ranges& other) const;
  const std::vector<Range>& list() const { return list_; }
  /// As parse() reads it.
  std::string text() const;
  bool operator==(const Ranges&) const = default;

 private:
  std::vector<Range> list_;
};

}  // namespace assay::eval
