// Files that are certainly not what somebody meant to name, known by how they begin.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct ForeignFile {
  std::string what;    ///< "a Git LFS pointer, not the file that it stands for"
  std::string remedy;  ///< a sentence
};

/// What a program that fetches files leaves in the place of one: a Git LFS pointer, a web page. No file that
/// this program reads begins so.
std::optional<ForeignFile> stand_in_file(std::string_view bytes);
/// Also archives, models of other frameworks, pictures and the like, to be asked when a file could not be
/// read as a model.
std::optional<ForeignFile> foreign_file(std::string_view bytes);

/// Throws Error (kInvalidArgument) for a stand-in.
void refuse_stand_in(std::string_view bytes, const std::string& path);

}  // namespace assay
