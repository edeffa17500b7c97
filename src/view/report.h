// What a page says besides the graph: what came of a command, tables that rank, what nodes are coloured by,
// timelines, and pictures of tensors. Plain data; names of nodes and tensors are resolved in the page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_writer.h"
#include "view/tensor_picture.h"

namespace assay {

/// Nothing, a text or a number.
using ReportCell = std::variant<std::monostate, std::string, double, int64_t>;

struct ReportColumn {
  enum class Kind : uint8_t {
    kText,
    kNumber,
    kNode,  ///< the name of a node or of a tensor that one computes: leads there
  };
  std::string title;
  Kind kind = Kind::kText;
  std::string unit = {};  ///< of numbers: s, ms, B, %
};

/// Rows in the order in which they matter: the page shows the first `shown`, and all on request.
struct ReportTable {
  std::string title, note;
  std::vector<ReportColumn> columns;
  std::vector<std::vector<ReportCell>> rows;
  int64_t shown = 20;
};

struct ReportText {
  std::string title, text;
};

/// A number or a word for each node, by which the graph can be coloured.
struct ReportMetric {
  enum class Combine : uint8_t { kSum, kMax };
  std::string key, title, unit;
  Combine combine = Combine::kSum;
  /// Of words: all that there can be, from good to bad. Empty: numbers.
  std::vector<std::string> words = {};
  /// By the name of a node, of a tensor that it computes, or of a layer (`a + b` stands for both).
  std::vector<std::pair<std::string, double>> numbers = {};
  std::vector<std::pair<std::string, std::string>> named = {};
};

/// Events of threads, in microseconds.
struct ReportTimeline {
  struct Event {
    size_t thread = 0;
    double start = 0, duration = 0;
    std::string name;
  };
  std::string title;
  std::vector<std::string> threads;
  std::vector<Event> events;
};

/// Which nodes of the first graph belong to which of the second, by id or name.
struct ReportMatching {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<std::pair<std::string, std::string>> changed;  ///< a node of the first, and what differs
};

struct Report {
  std::string title;
  std::string status;           ///< one line: what came of it
  std::optional<bool> is_good;  ///< its colour
  std::vector<std::pair<std::string, std::string>> summary;
  std::vector<std::variant<ReportTable, ReportText>> sections;
  std::vector<ReportMetric> metrics;
  std::vector<ReportTimeline> timelines;
  std::map<std::string, std::vector<TensorPicture>> tensors;  ///< by the tensor's name
  std::optional<ReportMatching> matching;
  /// The page opens with the report rather than with the graph.
  bool opens_first = false;

  /// The metric of that key, made if it is not there.
  ReportMetric& metric(const std::string& key, const std::string& title, const std::string& unit,
                       ReportMetric::Combine combine);
};

void write_report(JsonWriter& json, const Report& report);

}  // namespace assay
