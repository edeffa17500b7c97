// The answers of a search, so that an interrupted one can be resumed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "debug/answer.h"

namespace assay::debug {

/// The conditions of validity of answers: names and values,
/// such as the model's path, its size, the command.
using SearchIdentity = std::vector<std::pair<std::string, std::string>>;

/// A file of one line of JSON for the search and one for each answer, which is durable when add() returns. An
/// incomplete line of a killed process is ignored.
class Journal {
 public:
  /// One that ends with the process: no file is written.
  static Journal in_memory() { return Journal(""); }
  /// Begins a journal, replacing an existing file. Throws Error (kIo).
  static Journal begin(const std::string& path, const SearchIdentity& identity);
  /// Continues a journal; begins one if there is none. Throws Error (kInvalidArgument) for a file that is not
  /// a journal and for one of another search, naming the differences.
  static Journal resume(const std::string& path, const SearchIdentity& identity);

  /// The answer to a question; null if there is none.
  const Answer* find(std::string_view question) const;
  /// Throws Error (kIo).
  void add(const std::string& question, const Answer& answer);
  /// The first sought failure; empty if there was none.
  std::string failure() const;
  size_t size() const { return answers_.size(); }
  const std::string& path() const { return path_; }

 private:
  explicit Journal(std::string path) : path_(std::move(path)) {}
  void open(bool is_new);
  void append(const std::string& line);
  void note_failure(const Answer& answer);

  std::string path_;
  Descriptor file_;
  std::map<std::string, Answer, std::less<>> answers_;
  std::string failure_;
};

}  // namespace assay::debug
