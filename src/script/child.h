// A Python interpreter of the user's in a child process, which runs the scripts that options name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "script/item.h"

namespace assay::script {

struct ChildOptions {
  /// What the process is for, as in `the script data.py`.
  std::string purpose = "a script";
  /// Chooses the interpreter: find_interpreter().
  std::string interpreter;
};

/// One process with one interpreter; python/assay_child is the program in it. What scripts print, to stdout
/// or stderr, appears on this process's stderr. Nothing of the user's is imported before it is called. Not
/// thread-safe.
///
/// The process ends with the object, and with this process however that ends; Ctrl-C ends both.
class Child {
 public:
  /// Throws Error (kNotFound) when there is no interpreter, (kIo) when it does not start.
  explicit Child(const ChildOptions& options);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const std::string& interpreter() const;
  /// False once the process has ended, or was cut off.
  bool is_usable() const;

  /// Calls `operation`, ROLE.METHOD of python/assay_child/roles, and returns its answer; one call at a time,
  /// and both sides hold its arrays only. `doing` completes "while it ran ...". Throws Error
  /// (kInvalidArgument): what a script raised or did against the rules, with its file, line and function; how
  /// the process ended when it did.
  Item call(std::string_view operation, const Item::Dict& arguments, std::string_view doing);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace assay::script
