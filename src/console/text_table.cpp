#include "console/text_table.h"

#include <algorithm>

#include "base/utf8.h"
#include "base/visible_text.h"
#include "console/terminal.h"

namespace assay {
namespace {

constexpr size_t kGap = 2;

std::string padded(const std::string& cell, size_t width, bool is_number) {
  const std::string blanks(width - std::min(width, count_characters(cell)), ' ');
  return is_number ? blanks + cell : cell + blanks;
}

/// Without the blanks that fill the last column.
void end_line(std::string& text) {
  text.resize(text.find_last_not_of(' ') + 1);
  text += '\n';
}

std::string without_last_newline(std::string text) {
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = visible_text(cell, Lines::kOne);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<size_t> TextTable::widths() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(count_characters(columns_[i].title));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], count_characters(row[i]));
  }
  return widths;
}

std::string TextTable::line(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                            size_t first) const {
  std::string text(first == 0 ? 0 : kGap, ' ');
  for (size_t i = first; i < cells.size(); ++i)
    text += (i > first ? std::string(kGap, ' ') : "") + padded(cells[i], widths[i], columns_[i].is_number);
  end_line(text);
  return text;
}

std::string TextTable::in_columns(const std::vector<size_t>& widths) const {
  std::vector<std::string> titles;
  for (const Column& c : columns_) titles.push_back(c.title);
  std::string text = line(titles, widths, 0);
  for (const auto& row : rows_) text += line(row, widths, 0);
  return text;
}

std::string TextTable::below_names(const std::vector<size_t>& widths) const {
  std::vector<std::string> titles;
  for (const Column& c : columns_) titles.push_back(c.title);
  std::string text = titles.front() + "\n" + line(titles, widths, 1);
  for (const auto& row : rows_) text += row.front() + "\n" + line(row, widths, 1);
  return text;
}

std::string TextTable::as_list() const {
  std::string text;
  for (const auto& row : rows_) {
    text += row.front() + "\n";
    for (size_t i = 1; i < row.size(); ++i)
      if (!row[i].empty()) text += "  " + columns_[i].title + ": " + row[i] + "\n";
  }
  return text;
}

std::string TextTable::str(size_t width) const {
  const std::vector<size_t> all = widths();
  size_t cells = 0;
  for (size_t i = 1; i < all.size(); ++i) cells += kGap + all[i];
  if (width == 0 || all.front() + cells <= width) return without_last_newline(in_columns(all));
  if (cells <= width) return without_last_newline(below_names(all));
  return without_last_newline(as_list());
}

size_t table_columns(int indentation) {
  constexpr size_t kPrefix = 4, kLevel = 4;  // "[I] "
  const size_t columns = text_columns();
  if (columns == 0) return 0;
  const size_t taken = kPrefix + kLevel * static_cast<size_t>(std::max(indentation, 0));
  return columns > taken ? columns - taken : 1;
}

}  // namespace assay
