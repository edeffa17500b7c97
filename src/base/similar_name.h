// When two names probably mean the same thing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One contains the other, whatever the case of ASCII letters.
bool is_similar_name(std::string_view a, std::string_view b);

/// How many characters must be inserted, left out or replaced to make one of the other, the case of ASCII
/// letters aside; more than `limit` when it is beyond that.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

/// The candidates that differ least from `name`, nearest first: those within a third of its length in
/// inserted, left-out and replaced characters, and those that contain it. Each once.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string_view> candidates,
                                       size_t most = 3);

/// "Did you mean 'a', 'b'?" with the nearest names; empty when none is near. To be the remedy of an error.
std::string name_hint(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace assay
