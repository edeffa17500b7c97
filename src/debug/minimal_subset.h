// Delta debugging: the smallest part of a list of which a failure is left.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace assay::debug {

struct SubsetSearch {
  /// Whether the failure is there with these of the elements alone, in ascending order. Asked once for each
  /// set.
  std::function<bool(std::span<const size_t>)> fails;
  /// What it costs to cut the list before an element: halves end where little is cut. Empty: the same
  /// everywhere.
  std::vector<size_t> cut_costs = {};
};

/// Of the elements 0 ... count - 1, all of which together fail, a set that fails and none of whose elements
/// can be left out alone (the ddmin algorithm of Zeller and Hildebrandt, 2002): about 2 log2(count) questions
/// where one element is to blame, at worst count squared.
std::vector<size_t> minimal_subset(size_t count, const SubsetSearch& search);

}  // namespace assay::debug
