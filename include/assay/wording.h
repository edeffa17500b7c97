// The words in which an interface says what can be done about an error.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "assay/api.h"

namespace ASSAY_API assay {

/// Says a remedy in an interface's own words, with its names of the settings; an empty string: the library's
/// words will do. `key`: Error::remedy_key(); `values`: what the library's sentence is filled with, in its
/// order. Called from any thread. Must not throw.
using Wording = std::function<std::string(std::string_view key, std::span<const std::string> values)>;

/// From now on errors and messages are worded so; null: in the library's words. It belongs to the process, as
/// the log does; call it before other threads use the library.
void set_wording(Wording wording);

/// Fills {0}, {1}, ... of a sentence.
std::string fill_wording(std::string_view words, std::span<const std::string> values);

/// A key and the library's words for it, with {0}, {1}, ... for the values.
struct WordingEntry {
  std::string_view key;
  std::string_view words;
};
/// Every key that there is.
std::span<const WordingEntry> wording_entries();

}  // namespace assay
