// Work in a child process, so that what crashes or hangs there harms no search.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace assay::debug {

struct ChildOutcome {
  std::string text;         ///< the result of the work
  std::string error;        ///< or what it threw; empty: nothing
  std::string death;        ///< or how the child ended: "was killed by signal 11 (Segmentation fault)"
  bool is_overdue = false;  ///< it died because it took too long
};

/// Calls `work` there, and ends it after `timeout_seconds` (0: no limit). Its changes to memory are not
/// visible here. The caller must not have run anything on OpenMP's threads, which a child process lacks.
ChildOutcome run_in_child(const std::function<std::string()>& work, double timeout_seconds = 0);
/// The result of `work` there. Throws Error (kInvalidArgument) with what it threw, or how the child ended.
std::string in_child(const std::function<std::string()>& work);

/// The text or the exception of `work` as one text, and back.
std::string marked_result(const std::function<std::string()>& work);
void read_marked_result(const std::string& text, ChildOutcome& outcome);

/// Names as one text, and back.
std::string packed(const std::vector<std::string>& names);
std::vector<std::string> unpacked(const std::string& text);

}  // namespace assay::debug
