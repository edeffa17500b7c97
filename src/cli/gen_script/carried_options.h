// What becomes of each option of `run` in a program that --gen-script writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cli/args.h"
#include "cli/registries.h"

namespace assay::cli {

enum class InCpp : uint8_t {
  kCarried,  ///< the program has it
  kSettled,  ///< it has acted when the program is written: nothing of it is left for a run
  kIdle,     ///< it does nothing in any run of this build, and the log says so
};

struct CarriedOption {
  std::string_view name;  ///< the option's first one
  InCpp kind = InCpp::kCarried;
};

/// Every option of `run` that is neither refused (Option::refusal) nor of a backend or a module; those two
/// are carried.
std::span<const CarriedOption> carried_options();
/// Whether the option is one that a module adds to `run`.
bool is_module_option(const Registries& registries, std::string_view name);
/// Throws Error (kUnsupported) for an option that is given and that C++ programs cannot have.
void refuse_uncarried(const ParsedArgs& args, const Registries& registries);

}  // namespace assay::cli
