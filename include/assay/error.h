// The exception that every part of assay throws for input that ends the operation.
#pragma once

#include <fmt/core.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "assay/api.h"

namespace ASSAY_API assay {

/// The kind of failure that an Error reports; the command line maps every kind to exit code 1.
enum class ErrorCode {
  kInvalidArgument,  ///< an invalid setting, input tensor or call
  kInvalidModel,     ///< a file that breaks the ONNX format or its rules
  kUnsupported,      ///< valid input that this build cannot handle (unknown operator, missing library)
  kNotFound,         ///< a file, tensor, node or name that does not exist
  kIo,               ///< the operating system refused (unwritable place, disk full)
  kResource,         ///< memory that the budget or the machine does not have
  kInternal,         ///< a violated invariant of this library
};
/// `invalid_argument`, `invalid_model`, ...: stable names, for programs and files.
const char* error_code_name(ErrorCode code);

/// A place that an Error passes through, such as `at node 'conv1' (Conv)`.
struct ErrorPlace {
  enum class Kind : unsigned char { kFile, kNode, kTensor };
  Kind kind;
  std::string name;
  std::string text;
};
/// `in model.onnx`.
ErrorPlace file_place(std::string_view path);
/// `at node 'conv1' (Conv)`; the node is given by its label.
ErrorPlace node_place(std::string_view label);
/// `in input 'x'`, with the words before the name.
ErrorPlace tensor_place(std::string_view words, std::string_view name);

/// The subject of an Error as far as it is known: the innermost place of each kind.
struct ErrorSubject {
  std::string file, node, tensor;
};

/// A failure with one sentence, the places it passed through and, where there is one, the remedy.
/// what() reads: `<message> [at node 'conv1' (Conv)] [in model.onnx]. <remedy>`.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) { render(); }

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::vector<std::string>& context() const { return context_; }
  const ErrorSubject& subject() const { return subject_; }
  /// The text of set_remedy(); empty: none.
  const std::string& remedy() const { return remedy_; }
  /// Names the setting that is the remedy; each interface has its own name for it: `memory-limit`,
  /// `external-data-dir` (docs/reference/library.md lists them); empty: the sentence says all.
  const std::string& remedy_key() const { return remedy_key_; }
  const char* what() const noexcept override { return text_.c_str(); }

  /// Adds the next outer place, such as `at node 'conv1' (Conv)` or `in model.onnx`.
  Error& add_context(std::string place);
  Error& add_context(ErrorPlace place);
  /// Says what the user can do about it: one sentence, ended by a full stop.
  Error& set_remedy(std::string remedy, std::string key = {});

 private:
  void render();

  ErrorCode code_;
  std::string message_;
  std::vector<std::string> context_;
  ErrorSubject subject_;
  std::string remedy_;
  std::string remedy_key_;
  std::string text_;
};

[[noreturn]] void throw_error(ErrorCode code, fmt::string_view format, fmt::format_args args);

/// Throws Error with a message formatted by fmt.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw_error(code, format, fmt::make_format_args(args...));
}

/// Throws Error unless the condition holds.
template <typename... Args>
void require(bool condition, ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    throw_error(code, format, fmt::make_format_args(args...));
}

/// Runs body; an Error that leaves it gets the place that place() returns as context.
template <typename Place, typename Body>
decltype(auto) with_context(Place&& place, Body&& body) {
  try {
    return body();
  } catch (Error& e) {
    e.add_context(place());
    throw;
  }
}

}  // namespace assay
