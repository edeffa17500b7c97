// Text of files on terminals and in logs, where names may hold anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

enum class Lines : uint8_t {
  kOne,   ///< line ends are made visible, too
  kMany,  ///< \n stays
};

/// The text with what a terminal or an editor would act on made visible as \x1b, \u202e and the like: control
/// characters but the tab, those that turn the direction of writing, and bytes that are not UTF-8. All that
/// the log shows goes through it, and whatever else is written to a terminal and holds names of a file.
std::string visible_text(std::string_view text, Lines lines);

}  // namespace assay
