// Post-processing and comparison functions of modules, as a run uses them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/postprocess.h"
#include "extension/extension.h"

namespace assay::extension {

using Modules = std::span<const std::shared_ptr<Extension>>;

/// Names of the functions that modules have, in their order.
std::vector<std::string> comparison_names(Modules modules);
std::vector<std::string> postprocess_names(Modules modules);

/// The module's function of that name; null when there is none. It reads the module's options
/// (Extension::set_args()) when it is called.
std::shared_ptr<const Comparison> find_comparison(Modules modules, const std::string& name);
std::shared_ptr<const Postprocess> find_postprocess(Modules modules, const std::string& name);

}  // namespace assay::extension
