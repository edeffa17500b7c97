// A field of a CSV file.
#pragma once

#include <string>

namespace assay::debug {

/// Quoted where RFC 4180 asks for it.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace assay::debug
