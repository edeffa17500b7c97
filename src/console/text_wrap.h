// Lines broken between words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

/// The lines of a log (each ended by a newline) with none of them wider than `width` characters, where its
/// words allow that: it goes on below, indented a little more than it began, behind a blank that is left out.
/// A word that is wider stays whole on a line of its own. 0: as they are.
std::string wrapped(std::string_view lines, size_t width);

}  // namespace assay
