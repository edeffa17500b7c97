// A text that identifies a failure independently of the candidate.
#pragma once

#include <string>
#include <string_view>

namespace assay::debug {

/// The line of the output that describes the error, without parts that vary between candidates: numbers,
/// quoted names, paths, addresses. For a Python traceback, the final exception. Empty if there is no such
/// line.
std::string failure_text(std::string_view output);

}  // namespace assay::debug
