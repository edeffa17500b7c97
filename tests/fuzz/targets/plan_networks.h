// Small networks, as text, that use every tactic of the engine between them.
#pragma once

#include <string>
#include <vector>

namespace assay::fuzz {

std::vector<std::string> plan_networks();

}  // namespace assay::fuzz
