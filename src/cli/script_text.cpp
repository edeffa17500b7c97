#include "cli/script_text.h"

namespace assay::cli {

bool ScriptModel::is_unchanged() const {
  return import.external_data_dir.empty() && !import.ignore_external_data && !infer_shapes && !mark_all &&
         !outputs && !exclude_outputs && !convert_to_fp16;
}

std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) line += c == '\n' || c == '\r' ? ' ' : c;
  return line.ends_with('\\') ? line + " " : line;  // in C++ it would go on
}

}  // namespace assay::cli
