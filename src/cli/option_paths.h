// What the words of options name in the file system, checked before a command begins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"

namespace assay::cli {

/// What an option names.
enum class PathUse : uint8_t {
  kInput,         ///< a file that is read
  kInputs,        ///< files, or folders of files, that are read
  kInputFolder,   ///< a folder that is read
  kCache,         ///< a file that is read if it is there
  kOutput,        ///< a file that is written
  kUpdate,        ///< a file that is read if it is there, and written
  kOutputs,       ///< a file that is written, or, where the path has no extension, a folder of files
  kOutputFolder,  ///< a folder that files are written to
  kLibrary,       ///< a file, or a name that the system's loader finds
  kElsewhere,     ///< looked at where it is used, before any work: the reason is in the table
};

/// What a file that is written holds.
enum class Content : uint8_t { kAny, kModel, kPlan, kJson, kYaml, kScript, kPage };

/// What an option of a command (`surgeon extract`) names, by its first name; null for one that names no path.
struct PathOption {
  std::string_view command;  ///< empty: every command
  std::string_view option;
  PathUse use;
  Content content = Content::kAny;
};
const PathOption* find_path_option(std::string_view command, std::string_view option);

/// The options of the table, for tests.
std::span<const PathOption> path_options();

/// Throws Error (kIo, kNotFound, kInvalidArgument) naming the option for a file that is to be read and cannot
/// be, one that is to be written and cannot be, two options that would write one file, and, under the
/// program's own name, a name whose ending stands for something else than what would be written.
/// `without_effect` are options that are not used.
void check_option_paths(const ParsedArgs& args, std::span<const std::string> without_effect = {});

/// What the ending of a path says it holds; kAny where it says nothing.
Content content_of_ending(std::string_view path);
/// ".onnx (binary), .onnxtxt and .txt (ONNX's text form)", for messages.
std::string endings_text(Content content);

}  // namespace assay::cli
