// Files of tokens.
#pragma once

#include <string>
#include <vector>

#include "assay/generate.h"

namespace assay::generate {

/// Throws Error (kInvalidArgument) unless there are prompts, each with a token, and tokens to generate.
void check_prompts(const std::vector<Tokens>& prompts, int64_t max_tokens);

/// `1,2,3` or `1 2 3`. Throws Error (kInvalidArgument) that begins with `what`.
Tokens parse_tokens(const std::string& text, const std::string& what);

/// Sequences of a file: of text, a sequence a line, where what follows a # is left out; or of NumPy (.npy),
/// integers of one or two dimensions, where a row ends with its first negative number. Throws Error that
/// names the file and, of text, the line.
std::vector<Tokens> load_token_file(const std::string& path);

/// The same two forms, by the name's ending: rows of .npy are padded with -1. Throws Error (kIo).
void save_token_file(const std::vector<Tokens>& sequences, const std::string& path);

}  // namespace assay::generate
