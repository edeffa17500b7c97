#include "onnx/text/syntax.h"

#include <algorithm>
#include <array>

#include "assay/dtype.h"

namespace assay::onnx {
namespace {

/// The index is AttributeProto.AttributeType.
constexpr std::array<std::string_view, 15> kAttributeTypes = {
    "undefined", "float",   "int",    "string",        "tensor",         "graph",      "floats",     "ints",
    "strings",   "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"};

constexpr std::array<std::string_view, 5> kTypeWords = {"seq", "map", "optional", "sparse_tensor", "opaque"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string quoted(std::string_view text, bool one_line) {
  std::string out = "\"";
  for (const char c : text) {
    if (one_line && (c == '\n' || c == '\r')) {
      out += c == '\n' ? "\\n" : "\\r";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

bool is_text_identifier(std::string_view word) {
  return !word.empty() && is_letter(word[0]) &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::string text_name(std::string_view name) {
  const bool plain = is_text_identifier(name) && !is_text_type(name) && !is_text_float_word(name);
  return plain ? std::string(name) : text_string(name);
}

std::string text_string(std::string_view text) { return quoted(text, false); }
std::string annotation_string(std::string_view text) { return quoted(text, true); }

int text_element_type(std::string_view word) {
  for (int t = 0; t < kDTypeCount; ++t)
    if (onnx_name(static_cast<DType>(t)) == word) return t;
  return -1;
}

bool is_text_type(std::string_view word) {
  return text_element_type(word) >= 0 ||
         std::find(kTypeWords.begin(), kTypeWords.end(), word) != kTypeWords.end();
}

bool is_text_float_word(std::string_view word) {
  std::string lower(word.substr(0, 9));
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower == "inf" || lower == "infinity" || lower == "nan";
}

int text_attribute_type(std::string_view word) {
  const auto it = std::find(kAttributeTypes.begin(), kAttributeTypes.end(), word);
  return it == kAttributeTypes.end() ? -1 : static_cast<int>(it - kAttributeTypes.begin());
}

std::string_view text_attribute_type_name(int type) {
  return kAttributeTypes[type > 0 && static_cast<size_t>(type) < kAttributeTypes.size()
                             ? static_cast<size_t>(type)
                             : 0];
}

}  // namespace assay::onnx
