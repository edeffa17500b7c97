// What a program says on its terminal, kept for a report.
#pragma once

#include <memory>
#include <string>

namespace assay {

/// While it lives, the log's lines go to the terminal as before, and are kept. Of very many, the first and
/// the last.
class LogRecord {
 public:
  LogRecord();
  ~LogRecord();
  LogRecord(const LogRecord&) = delete;
  LogRecord& operator=(const LogRecord&) = delete;

  std::string text() const;

 private:
  class Tee;
  Tee* tee_;  ///< lives as long as the process, as the log requires
};

}  // namespace assay
