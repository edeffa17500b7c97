// Identification of the processor.
#pragma once

#include <string>
#include <string_view>

namespace assay {

/// The processor's name as /proc/cpuinfo has it; "unknown" where it does not say.
std::string processor_name();

/// A field of the first processor in /proc/cpuinfo; "unknown" where there is none of that name.
std::string processor_field(std::string_view name);

}  // namespace assay
