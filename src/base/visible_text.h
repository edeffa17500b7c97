// Makes text from files safe for terminals and logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

enum class Lines : uint8_t {
  kOne,   ///< line ends are made visible, too
  kMany,  ///< \n stays
};

/// The text with characters that a terminal or an editor would interpret escaped as \x1b, \u202e and the
/// like: control characters except the tab, bidirectional controls, and bytes that are not UTF-8. Applied to
/// all log output, and to other terminal output with names from a file.
std::string visible_text(std::string_view text, Lines lines);

}  // namespace assay
