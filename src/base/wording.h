// Sentences about settings, whose names depend on the interface:
// mainly remedies. The library defines their keys and neutral
// words; the command line and the Python package have their own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/error.h"
#include "assay/wording.h"

namespace assay {

enum class Say : uint8_t {
#define ASSAY_WORDING(id, key, words) id,
#include "base/wording.def"
#undef ASSAY_WORDING
};

std::string_view key_of(Say what);
/// The sentence in the words of the interface.
std::string say(Say what, const std::vector<std::string>& values = {});
/// Gives the error the remedy and its key.
Error& set_remedy(Error& error, Say what, const std::vector<std::string>& values = {});
/// For `throw with_remedy(Error(...), Say::kMemoryLimit)`.
Error with_remedy(Error error, Say what, const std::vector<std::string>& values = {});

}  // namespace assay
