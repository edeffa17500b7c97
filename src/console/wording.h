// Remedies, and names of settings in messages, in the
// words of the command line; also for generated programs.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// The words for a key of base/wording.def, with the values filled in; empty: there are none. `as_trtexec`:
/// options in that program's spelling.
std::string words_of_options(std::string_view key, std::span<const std::string> values, bool as_trtexec);

/// Installs these words for messages.
void use_words_of_options(bool as_trtexec);

}  // namespace assay
