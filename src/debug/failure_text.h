// In which way a check failed, in words that do not depend on the candidate.
#pragma once

#include <string>
#include <string_view>

namespace assay::debug {

/// The line of the output that says what went wrong, without what differs from candidate to candidate:
/// numbers, quoted names, paths, addresses. Of a Python traceback the exception that ended it. Empty where no
/// line says so.
std::string failure_text(std::string_view output);

}  // namespace assay::debug
