// Saved inputs and outputs as text, in Polygraphy's layout, and as JSON, while they are read: one array is in
// memory at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "assay/inspect.h"
#include "base/json_writer.h"

namespace assay {

/// Receives the content of a file piece by piece.
class DataReport {
 public:
  virtual ~DataReport() = default;
  /// The number of iterations of inputs, or of runners of results.
  virtual void begin_inputs(size_t iterations) = 0;
  virtual void begin_results(size_t runners, size_t longest_name) = 0;
  /// The arrays of an iteration, of the inputs or of the last runner.
  virtual void begin_runner(std::string_view name, size_t iterations) = 0;
  virtual void begin_iteration(size_t index) = 0;
  virtual void add(const ArrayDescription& array) = 0;
  virtual void end_iteration() = 0;
  virtual void end_runner() = 0;
  virtual void end() {}
};

class DataText : public DataReport {
 public:
  /// `all`: more than one iteration may come.
  DataText(ArrayTextOptions options, bool all) : options_(options), all_(all) {}
  void begin_inputs(size_t iterations) override;
  void begin_results(size_t runners, size_t longest_name) override;
  void begin_runner(std::string_view name, size_t iterations) override;
  void begin_iteration(size_t index) override;
  void add(const ArrayDescription& array) override;
  void end_iteration() override;
  void end_runner() override;
  const std::string& text() const { return text_; }

 private:
  bool titles_iterations() const { return level_ == 2; }

  ArrayTextOptions options_;
  bool all_;
  int level_ = 1;
  size_t longest_name_ = 0;
  std::string text_;
};

class DataJson : public DataReport {
 public:
  explicit DataJson(JsonWriter& json) : json_(json) {}
  void begin_inputs(size_t iterations) override;
  void begin_results(size_t runners, size_t longest_name) override;
  void begin_runner(std::string_view name, size_t iterations) override;
  void begin_iteration(size_t index) override;
  void add(const ArrayDescription& array) override;
  void end_iteration() override;
  void end_runner() override;
  void end() override;

 private:
  JsonWriter& json_;
  bool are_results_ = false;
};

}  // namespace assay
