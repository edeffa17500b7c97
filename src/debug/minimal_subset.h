// Delta debugging: finds a minimal part of a list that still fails.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace assay::debug {

struct SubsetSearch {
  /// True when the failure occurs with only these elements,
  /// in ascending order. Called once for each set.
  std::function<bool(std::span<const size_t>)> fails;
  /// The cost of splitting the list before an element:
  /// halves end at cheap positions. Empty: uniform.
  std::vector<size_t> cut_costs = {};
  /// Told before a question which are likely to come, at most `foresight` of them, the question itself first,
  /// so that they can be answered side by side. Empty: it is not called.
  std::function<void(const std::vector<std::vector<size_t>>& sets)> expect = {};
  size_t foresight = 0;
};

/// Of the elements 0 ... count - 1, which fail together, a failing set from which no single element can be
/// removed: by bisection, and between the first and the last element that are needed by the ddmin algorithm
/// of Zeller and Hildebrandt (2002). About log2(count) + 1 questions if one element is to blame, three to
/// four times as many if two are, at worst count squared.
std::vector<size_t> minimal_subset(size_t count, const SubsetSearch& search);

}  // namespace assay::debug
