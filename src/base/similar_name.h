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

/// The candidates that differ least from `name`, nearest first: those within a third of its length in
/// inserted, left-out and replaced characters, and those that contain it. Each once.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string_view> candidates,
                                       size_t most = 3);

}  // namespace assay
