// Work in a child process that runs in parallel to others.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/stopwatch.h"
#include "debug/child.h"

namespace assay::debug {

/// As run_in_child(), but does not wait. The child ends with this object, and with this process.
class ChildRun {
 public:
  /// `memory`: the child's part of what is left of the memory budget, from 0 to 1. The caller must be
  /// single-threaded. Throws Error (kIo).
  ChildRun(const std::function<std::string()>& work, double timeout_seconds, double memory);
  ~ChildRun();
  ChildRun(const ChildRun&) = delete;
  ChildRun& operator=(const ChildRun&) = delete;

  void watch(std::vector<pollfd>& fds) const;
  /// Does what can be done without waiting. True once it has ended.
  bool advance();
  /// Of one that has ended.
  const ChildOutcome& outcome() const { return outcome_; }
  double seconds() const { return watch_.seconds(); }

 private:
  void end();

  pid_t pid_ = -1;
  Descriptor reading_;
  Stopwatch watch_;
  double timeout_seconds_;
  std::string text_;
  ChildOutcome outcome_;
};

}  // namespace assay::debug
