// A function of a Python script, in a separate process that starts with the first call.
#pragma once

#include <memory>
#include <string>

#include "script/child.h"
#include "script/reference.h"

namespace assay::script {

class PythonFunction {
 public:
  /// `role`: the file of python/assay_child/roles that calls it.
  PythonFunction(std::string role, Reference reference, std::string interpreter)
      : role_(std::move(role)), reference_(std::move(reference)), interpreter_(std::move(interpreter)) {}

  /// Starts the interpreter, which must have NumPy, and imports the script. Throws Error as call().
  void prepare() { call("prepare", {}); }
  Item call(std::string_view method, const Item::Dict& arguments);
  const Reference& reference() const { return reference_; }

 private:
  std::string role_;
  Reference reference_;
  std::string interpreter_;
  std::unique_ptr<Child> child_;
};

}  // namespace assay::script
