// A text that identifies a failure independently of the candidate.
#pragma once

#include <string>
#include <string_view>

namespace assay::debug {

/// The line of the output that describes the error. For a Python traceback, the final exception. Empty if
/// there is no such line.
std::string_view telling_line(std::string_view output);

/// That line, without parts that vary between candidates: numbers, quoted names, paths, addresses.
std::string failure_text(std::string_view output);

}  // namespace assay::debug
