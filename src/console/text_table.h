// Tables as text that fits the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// Rows with a name first. Where the columns are too wide for the terminal, a name has a line of its own
/// above its cells, and where that is still too wide, every cell has one. Nothing is cut and no word is
/// broken.
class TextTable {
 public:
  struct Column {
    std::string title;
    bool is_number = false;  ///< aligned to the right
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// A cell for each column; control characters become visible.
  void add(std::vector<std::string> cells);
  bool is_empty() const { return rows_.empty(); }
  /// Lines without a newline at the end. `width`: columns of the terminal that are left for it; 0: any
  /// number.
  std::string str(size_t width) const;

 private:
  std::vector<size_t> widths() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                   size_t first) const;
  std::string in_columns(const std::vector<size_t>& widths) const;
  std::string below_names(const std::vector<size_t>& widths) const;
  std::string as_list() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The columns that are left for a table in a message of the log at this indentation; 0: any number.
size_t table_columns(int indentation);

}  // namespace assay
