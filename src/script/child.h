// A child process with the user's Python interpreter, which runs the scripts that options name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "script/item.h"

namespace assay::script {

struct ChildOptions {
  /// The purpose of the process, as in `the script data.py`.
  std::string purpose = "a script";
  /// Chooses the interpreter: find_interpreter().
  std::string interpreter;
};

/// One process with one interpreter; python/assay_child is the program in it. What scripts print, to stdout
/// or stderr, appears on this process's stderr. User code is imported only when it is called. Not
/// thread-safe.
///
/// The process ends with the object, and with this process, however that ends; Ctrl-C ends both.
class Child {
 public:
  /// Throws Error (kNotFound) when there is no interpreter, (kIo) when it does not start.
  explicit Child(const ChildOptions& options);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const std::string& interpreter() const;
  /// False once the process has ended or was killed.
  bool is_usable() const;

  /// Calls `operation`, ROLE.METHOD of python/assay_child/roles, and returns its result; one call at a time,
  /// whose arrays are the only ones in memory. `doing` completes "while it ran ...". Throws Error
  /// (kInvalidArgument): an exception or protocol violation of the script, with file, line and function; or
  /// how the process ended.
  Item call(std::string_view operation, const Item::Dict& arguments, std::string_view doing);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::script
