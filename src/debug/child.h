// Work in a child process, so that what crashes or hangs there harms no search.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace assay::debug {

struct ChildOutcome {
  std::string text;         ///< what the work returned
  std::string error;        ///< or what it threw; empty: nothing
  std::string death;        ///< or how the child ended: "was killed by signal 11 (Segmentation fault)"
  bool is_overdue = false;  ///< it died because it took too long
};

/// Calls `work` there, and ends it after `timeout_seconds` (0: no limit). Of what it does to memory nothing
/// is seen here. Whoever calls it has run nothing on threads of OpenMP, which a child cannot go on with.
ChildOutcome run_in_child(const std::function<std::string()>& work, double timeout_seconds = 0);
/// What `work` returned there. Throws Error (kInvalidArgument) with what it threw, or how the child ended.
std::string in_child(const std::function<std::string()>& work);

/// Names as one text, and back.
std::string packed(const std::vector<std::string>& names);
std::vector<std::string> unpacked(const std::string& text);

}  // namespace assay::debug
