// Files that are certainly not what the user meant, recognized by their first bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct ForeignFile {
  std::string what;    ///< "a Git LFS pointer, not the file itself"
  std::string remedy;  ///< a sentence
};

/// A placeholder that a download left instead of a file: a Git LFS pointer, a web page. No file that this
/// program reads begins like one.
std::optional<ForeignFile> stand_in_file(std::string_view bytes);
/// Also archives, models of other frameworks, pictures and the like; for files that could not be read as a
/// model.
std::optional<ForeignFile> foreign_file(std::string_view bytes);

/// Throws Error (kInvalidArgument) for a stand-in.
void refuse_stand_in(std::string_view bytes, const std::string& path);

}  // namespace assay
