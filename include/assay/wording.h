// The wording of remedies of errors, which depends on the interface.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "assay/api.h"

namespace ASSAY_API assay {

/// Words a remedy with an interface's own names of settings; an empty string: the library's words are used.
/// `key`: Error::remedy_key(); `values`: the arguments of the library's sentence, in its order. Called from
/// any thread. Must not throw.
using Wording = std::function<std::string(std::string_view key, std::span<const std::string> values)>;

/// Sets the wording of errors and messages; null: the library's words. It is process-wide, as the log is;
/// call it before other threads use the library.
void set_wording(Wording wording);

/// Fills in the placeholders {0}, {1}, ... of a sentence.
std::string fill_wording(std::string_view words, std::span<const std::string> values);

/// A key and the library's words for it, with {0}, {1}, ... for the values.
struct WordingEntry {
  std::string_view key;
  std::string_view words;
};
/// All keys.
std::span<const WordingEntry> wording_entries();

}  // namespace assay
