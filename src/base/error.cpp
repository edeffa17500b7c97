#include "assay/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kInvalidModel:
      return "invalid_model";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kResource:
      return "resource";
    case ErrorCode::kInternal:
      break;
  }
  return "internal";
}

ErrorPlace file_place(std::string_view path) {
  return {ErrorPlace::Kind::kFile, std::string(path), fmt::format("in {}", path)};
}

ErrorPlace node_place(std::string_view label) {
  // 'name' (Op); a nameless node's label begins with its operator.
  const size_t end = label.rfind("' (");
  const bool has_name = label.starts_with('\'') && end != std::string_view::npos && end > 0;
  return {ErrorPlace::Kind::kNode, has_name ? std::string(label.substr(1, end - 1)) : std::string(),
          fmt::format("at node {}", label)};
}

ErrorPlace tensor_place(std::string_view words, std::string_view name) {
  return {ErrorPlace::Kind::kTensor, std::string(name), fmt::format("{} '{}'", words, name)};
}

Error& Error::add_context(ErrorPlace place) {
  std::string& subject = place.kind == ErrorPlace::Kind::kFile   ? subject_.file
                         : place.kind == ErrorPlace::Kind::kNode ? subject_.node
                                                                 : subject_.tensor;
  if (subject.empty()) subject = std::move(place.name);
  return add_context(std::move(place.text));
}

Error& Error::add_context(std::string place) {
  // A place that two layers add is shown once.
  if (std::find(context_.begin(), context_.end(), place) != context_.end()) return *this;
  context_.push_back(std::move(place));
  render();
  return *this;
}

Error& Error::set_remedy(std::string remedy, std::string key) {
  remedy_ = std::move(remedy);
  remedy_key_ = std::move(key);
  render();
  return *this;
}

void Error::render() {
  text_ = message_;
  for (const std::string& place : context_) {
    text_ += " [";
    text_ += place;
    text_ += ']';
  }
  if (remedy_.empty()) return;
  if (!text_.empty() && text_.back() != '.' && text_.back() != '!' && text_.back() != '?') text_ += '.';
  text_ += ' ';
  text_ += remedy_;
}

void throw_error(ErrorCode code, fmt::string_view format, fmt::format_args args) {
  throw Error(code, fmt::vformat(format, args));
}

}  // namespace assay
