// Programs that show a failure which `debug reduce` has made small, in C++ and in Python.
#pragma once

#include <string>
#include <vector>

namespace assay::cli {

struct FailureProgram {
  std::string failure;                ///< for the first lines
  std::string command;                ///< the command that found it
  std::vector<std::string> backends;  ///< that run, by name
  std::string model, inputs;          ///< file names in the folder of the program
};

/// On the public headers alone; `file` is the name that the command that builds it holds.
std::string failure_program_cpp(const FailureProgram& program, const std::string& file);
/// With the Python package.
std::string failure_program_python(const FailureProgram& program);

}  // namespace assay::cli
