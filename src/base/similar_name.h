// Similarity of names, for suggestions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// One contains the other, ignoring the case of ASCII letters.
bool is_similar_name(std::string_view a, std::string_view b);

/// The edit distance (insertions, deletions, replacements), ignoring the case of ASCII letters; any number
/// above `limit` when it exceeds that.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

/// The candidates most similar to `name`, nearest first: those with an edit distance within a third of its
/// length, and those that contain it. Each once.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string_view> candidates,
                                       size_t most = 3);

/// "Did you mean 'a', 'b'?" with the nearest names; empty when none is near. For errors' remedies.
std::string name_hint(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace assay
