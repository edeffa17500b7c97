#include "cli/script_text.h"

#include <algorithm>

#include "base/visible_text.h"

namespace assay::cli {

bool ScriptModel::is_unchanged() const {
  return import.external_data_dir.empty() && !import.ignore_external_data && !infer_shapes && !mark_all &&
         !outputs && !exclude_outputs && !convert_to_fp16;
}

std::string in_one_line(const std::string& text) {
  std::string line = text;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  line = visible_text(line, Lines::kOne);
  line.erase(line.find_last_not_of(" \t") + 1);
  return line.ends_with('\\') ? line + " ." : line;  // in C++ it would go on, also over blanks
}

}  // namespace assay::cli
