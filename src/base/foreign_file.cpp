#include "base/foreign_file.h"

#include <algorithm>

#include "assay/error.h"

namespace assay {
namespace foreign {

/// The number of bytes to inspect.
constexpr size_t kLookedAt = 4096;

constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/";
constexpr std::string_view kOldPointer = "version https://hawser.github.com/spec/";

bool begins_in_any_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
    return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
  });
}

/// `<html>`, `<html lang=...>`; not a longer word.
bool begins_with_tag(std::string_view text, std::string_view tag) {
  if (!begins_in_any_case(text, tag) || text.size() == tag.size()) return false;
  const char next = text[tag.size()];
  return next == '>' || next == ' ' || next == '\n' || next == '\r' || next == '\t';
}

std::string_view without_comments(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\xef\xbb\xbf"), text.size()));
    if (!text.starts_with("<!--")) return text;
    const size_t end = text.find("-->");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 3);
  }
}

bool is_page(std::string_view bytes) {
  const std::string_view text = without_comments(bytes.substr(0, kLookedAt));
  return begins_with_tag(text, "<!doctype html") || begins_with_tag(text, "<html") ||
         begins_with_tag(text, "<head");
}

/// The number behind `size ` in a pointer; empty when there is none.
std::string pointer_size(std::string_view pointer) {
  const size_t at = pointer.find("\nsize ");
  if (at == std::string_view::npos) return {};
  const std::string_view digits = pointer.substr(at + 6, 20);
  return std::string(digits.substr(0, std::min(digits.find_first_not_of("0123456789"), digits.size())));
}

struct Kind {
  size_t offset;
  std::string_view magic;
  std::string_view what, remedy;
};

constexpr std::string_view kUnpack = "Unpack it and name the model inside.";
constexpr std::string_view kExport = "Export the model to ONNX first.";

constexpr Kind kKinds[] = {
    {0, std::string_view("PK\x03\x04", 4),
     "a ZIP archive (or a file of PyTorch or NumPy, which are such archives)",
     "Unpack an archive and name the model inside; export a PyTorch model with torch.onnx.export."},
    {0, "\x1f\x8b", "packed with gzip", kUnpack},
    {0, "BZh", "packed with bzip2", kUnpack},
    {0,
     std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "packed with xz", kUnpack},
    {0, "\x28\xb5\x2f\xfd", "packed with Zstandard", kUnpack},
    {0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive", kUnpack},
    {257, "ustar", "a tar archive", kUnpack},
    {0, "\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes",
     "Export the model to ONNX first (tf2onnx reads Keras models)."},
    {4, "TFL3", "a TensorFlow Lite model", "Convert it to ONNX first, as tf2onnx does."},
    {4, "ORTM", "a model in ONNX Runtime's own format (.ort)", "Name the ONNX model that it was made from."},
    {0, "GGUF", "a GGUF file", kExport},
    {0, "\x80\x02", "a Python pickle, as torch.save wrote in former times",
     "Export the model with torch.onnx.export."},
    {0, "\x80\x03", "a Python pickle", kExport},
    {0, "\x80\x04", "a Python pickle", kExport},
    {0, "\x80\x05", "a Python pickle", kExport},
    {0, "ptrt", "an engine of TensorRT",
     "Name the ONNX model that it was built from: assay builds engines of its own."},
    {0, "ftrt", "an engine of TensorRT",
     "Name the ONNX model that it was built from: assay builds engines of its own."},
    {0,
     "\x7f"
     "ELF",
     "a program or library", "Name the model."},
    {0, "%PDF-", "a PDF document", "Name the model."},
    {0, "\x89PNG\r\n\x1a\n", "a picture", "Name the model."},
    {0, "\xff\xd8\xff", "a picture", "Name the model."},
    {0, "\x93NUMPY", "an array of NumPy", "Name the model; arrays are inputs of it."},
    {0, "<?xml", "an XML file",
     "If it is a model of OpenVINO (IR), name the ONNX model that it was made from."},
};

}  // namespace foreign

std::optional<ForeignFile> stand_in_file(std::string_view bytes) {
  if (bytes.starts_with(foreign::kPointer) || bytes.starts_with(foreign::kOldPointer)) {
    const std::string size = foreign::pointer_size(bytes.substr(0, foreign::kLookedAt));
    return ForeignFile{fmt::format("a Git LFS pointer, not the file{} that it stands for",
                                   size.empty() ? "" : fmt::format(" of {} bytes", size)),
                       "Fetch the file: run `git lfs install` and `git lfs pull` in its repository."};
  }
  if (foreign::is_page(bytes))
    return ForeignFile{"a web page (HTML), which a server sent in the place of the file",
                       "Download the file itself: on GitHub and Hugging Face that is the link \"raw\" or "
                       "\"download\", not the page that shows it."};
  return std::nullopt;
}

std::optional<ForeignFile> foreign_file(std::string_view bytes) {
  if (auto found = stand_in_file(bytes)) return found;
  for (const foreign::Kind& k : foreign::kKinds)
    if (bytes.size() > k.offset && bytes.substr(k.offset).starts_with(k.magic))
      return ForeignFile{std::string(k.what), std::string(k.remedy)};
  return std::nullopt;
}

void refuse_stand_in(std::string_view bytes, const std::string& path) {
  const auto found = stand_in_file(bytes);
  if (!found) return;
  Error e(ErrorCode::kInvalidArgument, fmt::format("{} is {}", path, found->what));
  throw e.set_remedy(found->remedy);
}

}  // namespace assay
