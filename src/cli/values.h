// The value syntaxes that several options share. All errors are logged as critical and thrown
// (log::LoggedError).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "run/data_loader.h"
#include "run/python_value.h"

namespace assay::cli {

/// Words of the form `[key:]value`, split at the last colon, values typed by python_cast. A word without
/// colon has the key "". Keys are unique: a later word replaces the value of an earlier one.
using KeyValues = std::vector<std::pair<std::string, PythonValue>>;
KeyValues parse_key_values(std::span<const std::string> words);

/// The same with text kept as text.
std::vector<std::pair<std::string, std::string>> parse_key_texts(std::span<const std::string> words);

/// parse_key_values() where every value must be a number.
KeyValues parse_key_numbers(const std::string& option, std::span<const std::string> words);

/// `name:[2,3]`: extents are numbers, or text and negative numbers for open ones. The name may hold colons.
std::vector<InputShape> parse_input_shapes(const std::string& option, std::span<const std::string> words);

/// `[min,max]` or `name:[min,max]`.
std::vector<std::pair<std::string, ValueRange>> parse_value_ranges(std::span<const std::string> words);

/// A number of bytes: an integer, scientific notation, or a number followed by K, M or G.
int64_t parse_byte_count(const std::string& text);

/// An integer that is at least `least`; `option` names it in the error.
int64_t require_at_least(const std::string& option, int64_t value, int64_t least);

}  // namespace assay::cli
