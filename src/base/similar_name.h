// When two names probably mean the same thing.
#pragma once

#include <string_view>

namespace assay {

/// One contains the other, whatever the case of ASCII letters.
bool is_similar_name(std::string_view a, std::string_view b);

}  // namespace assay
