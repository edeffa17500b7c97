// Statistics as a table and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "assay/inspect.h"
#include "base/json_writer.h"
#include "inspect/table_text.h"
#include "inspect/text_block.h"

namespace assay {
namespace {

/// 1.23 M, 45.6 K, 789: three digits at least, and a prefix of 1000.
std::string scaled(int64_t number) {
  constexpr std::array<const char*, 6> kPrefixes = {"K", "M", "G", "T", "P", "E"};
  if (number < 1000) return std::to_string(number);
  auto value = static_cast<double>(number);
  size_t prefix = 0;
  for (value /= 1000; value >= 999.5 && prefix + 1 < kPrefixes.size(); value /= 1000) ++prefix;
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, kPrefixes[prefix]);
}

std::string number_text(const Count& count) {
  const auto number = count.number();
  return number ? scaled(*number) : count.str();
}

std::string bytes_text(const Count& count) {
  const auto number = count.number();
  if (!number) return count.str() + " B";
  const std::string text = scaled(*number);
  return text + (std::isdigit(static_cast<unsigned char>(text.back())) != 0 ? " B" : "B");
}

/// Texts that would make a column too wide, under short names, each listed once.
class Formulas {
 public:
  /// The text, or its short name if it is too wide.
  std::string cell(std::string text, size_t most_columns = 16) {
    if (text_width(text) <= most_columns) return text;
    const auto it = std::find(texts_.begin(), texts_.end(), text);
    const size_t index = static_cast<size_t>(it - texts_.begin());
    if (it == texts_.end()) texts_.push_back(std::move(text));
    return fmt::format("({})", index + 1);
  }

  std::string str() const {
    if (texts_.empty()) return "";
    std::string list = fmt::format("\n---- {} Formula(s) ----\n", texts_.size());
    for (size_t i = 0; i < texts_.size(); ++i)
      list += wrapped(fmt::format("({}) = ", i + 1), texts_[i]) + "\n";
    return list;
  }

 private:
  /// Broken at blanks to fit the width of a screen.
  static std::string wrapped(const std::string& head, std::string_view text) {
    constexpr size_t kColumns = 100;
    std::string out = head;
    size_t column = head.size();
    while (!text.empty()) {
      const size_t blank = text.find(' ', 1);
      const std::string_view word = text.substr(0, blank);
      if (column + text_width(word) > kColumns && column > head.size()) {
        out += "\n" + std::string(head.size() - 1, ' ');
        column = head.size() - 1;
      }
      out += word;
      column += text_width(word);
      text.remove_prefix(word.size());
    }
    return out;
  }

  std::vector<std::string> texts_;
};

/// Columns as wide as their widest cell; every one but the first `left` of them to the right.
class Table {
 public:
  Table(std::vector<std::string> titles, size_t left) : left_(left) { add(std::move(titles)); }
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string str() const {
    std::vector<size_t> widths(rows_.front().size());
    for (const auto& row : rows_)
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
    std::string text;
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text += " | ";
        const std::string blanks(widths[i] - text_width(row[i]), ' ');
        text += i < left_ ? row[i] + blanks : blanks + row[i];
      }
      text += "\n";
    }
    return text;
  }

 private:
  size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

std::string operator_table(const ModelStats& stats, Formulas& formulas) {
  Table table({"Operator", "Nodes", "Parameters", "MACs", "Outputs"}, 1);
  for (const OperatorStats& o : stats.operators)
    table.add({o.op_type, std::to_string(o.nodes), scaled(o.parameters), formulas.cell(number_text(o.macs)),
               formulas.cell(bytes_text(o.output_bytes))});
  return table.str();
}

std::string layer_table(const ModelStats& stats, Formulas& formulas) {
  Table table({"Layer", "Operator", "Output", "Parameters", "MACs", "Outputs", "Times"}, 3);
  for (const LayerStats& l : stats.layers)
    table.add({l.name, l.op_type, formulas.cell(l.output, 32), scaled(l.parameters),
               formulas.cell(number_text(l.macs)), formulas.cell(bytes_text(l.output_bytes)),
               l.is_counted ? formulas.cell(l.times.str()) : "not counted"});
  return table.str();
}

void write(JsonWriter& json, std::string_view key, const Count& count) {
  json.key(key);
  if (const auto number = count.number())
    json.value(*number);
  else
    json.value(count.str());
}

void write(JsonWriter& json, const LayerStats& l) {
  json.begin_object();
  json.key("name").value(l.name).key("op").value(l.op_type).key("output").value(l.output);
  json.key("parameters").value(l.parameters);
  write(json, "macs", l.macs);
  write(json, "output_bytes", l.output_bytes);
  write(json, "times", l.times);
  json.key("counted").value(l.is_counted);
  json.end_object();
}

void write(JsonWriter& json, const OperatorStats& o) {
  json.begin_object();
  json.key("op").value(o.op_type).key("nodes").value(o.nodes).key("parameters").value(o.parameters);
  write(json, "macs", o.macs);
  write(json, "output_bytes", o.output_bytes);
  json.end_object();
}

}  // namespace

std::string stats_text(const ModelStats& stats, bool layers) {
  std::string text =
      fmt::format("Nodes: {} | Parameters: {} | Constants: {} | MACs: {}\n", stats.nodes,
                  scaled(stats.parameters), bytes_text(stats.constant_bytes), number_text(stats.macs));
  text += fmt::format("Activations: {} in all, {}{} at once\n\n", bytes_text(stats.activation_bytes),
                      stats.peak_is_bound ? "at most " : "", bytes_text(stats.peak_bytes));
  if (!stats.notes.empty()) {
    text += fmt::format("---- {} Note(s) ----\n", stats.notes.size());
    for (const std::string& note : stats.notes) text += note + "\n";
    text += "\n";
  }
  Formulas formulas;
  text +=
      fmt::format("---- {} Operator(s) ----\n{}", stats.operators.size(), operator_table(stats, formulas));
  if (layers)
    text += fmt::format("\n---- {} Layer(s) ----\n{}", stats.layers.size(), layer_table(stats, formulas));
  text += formulas.str();
  return std::string(stripped(text));
}

std::string stats_json(const ModelStats& stats) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; });
  json.begin_object();
  json.key("name").value(stats.name).key("nodes").value(stats.nodes);
  json.key("parameters").value(stats.parameters).key("constant_bytes").value(stats.constant_bytes);
  write(json, "macs", stats.macs);
  write(json, "activation_bytes", stats.activation_bytes);
  write(json, "peak_bytes", stats.peak_bytes);
  json.key("peak_is_bound").value(stats.peak_is_bound);
  json.key("notes").begin_array();
  for (const std::string& note : stats.notes) json.value(note);
  json.end_array().key("operators").begin_array();
  for (const OperatorStats& o : stats.operators) write(json, o);
  json.end_array().key("layers").begin_array();
  for (const LayerStats& l : stats.layers) write(json, l);
  json.end_array().end_object();
  return text;
}

}  // namespace assay
