// The answers of a search, so that one that was interrupted goes on where it was.
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

/// What must be the same for answers to hold: names and values, such as the model's path, its size, the
/// command.
using SearchIdentity = std::vector<std::pair<std::string, std::string>>;

/// A file of one line of JSON for the search and one for each answer, which is there for good when add()
/// returns. A line that a killed process left unfinished does not count.
class Journal {
 public:
  /// Begins a journal, in the place of what is there. Throws Error (kIo).
  static Journal begin(const std::string& path, const SearchIdentity& identity);
  /// Goes on with one; begins one where there is none. Throws Error (kInvalidArgument) for a file that is no
  /// journal and for one of another search, naming what differs.
  static Journal resume(const std::string& path, const SearchIdentity& identity);

  /// The answer to a question; null where it has not been asked.
  const Answer* find(std::string_view question) const;
  /// Throws Error (kIo).
  void add(const std::string& question, const Answer& answer);
  /// The first failure that was looked for; empty where there was none.
  std::string failure() const;
  size_t size() const { return answers_.size(); }
  const std::string& path() const { return path_; }

 private:
  explicit Journal(std::string path) : path_(std::move(path)) {}
  void open(bool is_new);
  void append(const std::string& line);

  std::string path_;
  Descriptor file_;
  std::map<std::string, Answer, std::less<>> answers_;
  std::string failure_;
};

}  // namespace assay::debug
