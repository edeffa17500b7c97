#include "onnx/forms/form.h"

#include <algorithm>
#include <array>
#include <utility>

#include "onnx/forms/proto_json.h"
#include "onnx/forms/proto_text.h"
#include "onnx/forms/schema.h"
#include "onnx/text/reader.h"

namespace assay::onnx {
namespace form {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r\n";

constexpr std::pair<std::string_view, ModelForm> kEndings[] = {
    {".onnxtxt", ModelForm::kText},       {".onnxtext", ModelForm::kText},
    {".txt", ModelForm::kText},           {".textproto", ModelForm::kProtoText},
    {".prototxt", ModelForm::kProtoText}, {".pbtxt", ModelForm::kProtoText},
    {".txtpb", ModelForm::kProtoText},    {".json", ModelForm::kJson},
    {".onnxjson", ModelForm::kJson},
};

std::string_view without_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

/// The text without leading blanks and comments.
std::string_view after_comments(std::string_view text) {
  for (skip_blanks(text); text.starts_with('#'); skip_blanks(text))
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  return text;
}

bool begins_with_field(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  skip_blanks(text);
  return !text.empty() && (text.front() == ':' || text.front() == '{');
}

bool begins_as_proto_text(std::string_view text) {
  return std::any_of(kModelSchema.fields.begin(), kModelSchema.fields.end(),
                     [&](const FieldSchema& f) { return begins_with_field(text, f.name); });
}

bool begins_as_json(std::string_view text) {
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip_blanks(text);
  return text.starts_with('"') || text.starts_with('}');
}

/// No text has these bytes; every binary model begins with one, the tag of its IR version or graph.
bool has_control_bytes(std::string_view bytes) {
  return std::any_of(
      bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(bytes.size(), 64)),
      [](char c) {
        return static_cast<unsigned char>(c) < ' ' && kBlanks.find(c) == std::string_view::npos;
      });
}

}  // namespace form

ModelForm form_of_name(std::string_view path) {
  for (const auto& [ending, its] : form::kEndings)
    if (path.ends_with(ending)) return its;
  return ModelForm::kBinary;
}

ModelForm form_of(std::string_view path, std::string_view bytes) {
  std::string_view text = form::without_mark(bytes);
  form::skip_blanks(text);
  if (form::begins_as_json(text)) return ModelForm::kJson;
  if (form::begins_as_proto_text(form::after_comments(text))) return ModelForm::kProtoText;
  const ModelForm named = form_of_name(path);
  if (named == ModelForm::kText) return named;
  if (named != ModelForm::kBinary && !form::has_control_bytes(bytes)) return named;
  return text.starts_with('<') || text.starts_with('#') ? ModelForm::kText : ModelForm::kBinary;
}

std::string read_form(ModelForm form, std::string_view text) {
  text = form::without_mark(text);
  switch (form) {
    case ModelForm::kText:
      return read_text(text);
    case ModelForm::kProtoText:
      return read_proto_text(text);
    case ModelForm::kJson:
      return read_proto_json(text);
    case ModelForm::kBinary:
      break;
  }
  return std::string(text);
}

}  // namespace assay::onnx
