// Which processor this is.
#pragma once

#include <string>

namespace assay {

/// The processor's name as /proc/cpuinfo has it; "unknown" where it does not say.
std::string processor_name();

}  // namespace assay
