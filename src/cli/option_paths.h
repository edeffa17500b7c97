// Checks of the paths that options name, before a command begins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/args.h"

namespace assay::cli {

/// The kind of path that an option names.
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
  kElsewhere,     ///< checked where it is used, before any work, for the reason in the table
};

/// The content of an output file.
enum class Content : uint8_t { kAny, kModel, kPlan, kJson, kYaml, kScript, kPage, kTrace };

/// The kind of path of a command's (`surgeon extract`) option, by its first name; null if it names none.
struct PathOption {
  std::string_view command;  ///< empty: every command
  std::string_view option;
  PathUse use;
  Content content = Content::kAny;
};
const PathOption* find_path_option(std::string_view command, std::string_view option);

/// The options of the table, for tests.
std::span<const PathOption> path_options();

/// Throws Error (kIo, kNotFound, kInvalidArgument) naming the option for an input file that cannot be read,
/// an output file that cannot be written, two options that would write the same file, and, under the
/// program's own name, an extension that contradicts the content to be written. `without_effect` lists unused
/// options.
void check_option_paths(const ParsedArgs& args, std::span<const std::string> without_effect = {});

/// The same for one option, which a command does not leave unused.
void check_option_path(const ParsedArgs& args, std::string_view option);

/// The content that a path's extension implies; kAny if it implies none.
Content content_of_ending(std::string_view path);
/// ".onnx (binary), .onnxtxt and .txt (ONNX's text form)", for messages.
std::string endings_text(Content content);

}  // namespace assay::cli
