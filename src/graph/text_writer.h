// Parts of to_text(); for the files to_text.cpp and text_writer.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/text_options.h"

namespace assay {

/// True when a number's decimal form round-trips: for all except unusual NaNs.
bool survives_as_decimal(float v);

/// Writes from the outside in. An annotation is on a line of its own, before its subject.
class TextWriter {
 public:
  explicit TextWriter(const TextOptions& options) : options_(options) {}
  std::string take() { return std::move(out_); }

  void model(const Model& m);

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void new_line() {
    while (out_.ends_with(' ')) out_.pop_back();
    constexpr int kIndent = 2;
    put("\n{:{}}", "", level_ * kIndent);
  }
  template <typename List, typename Each>
  void list(const List& items, std::string_view separator, Each each) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += separator;
      first = false;
      each(item);
    }
  }

  // Annotations. Each begins a new line and ends it.
  void annotate(std::string_view key, std::initializer_list<std::string_view> values);
  void annotate_metadata(const Metadata& metadata);
  void annotate_denotations(const Type& type);
  void annotate_data(std::string_view bytes);
  void annotate_bits(const UnalignedTensor& t);
  bool at_line_start() const;

  void opsets(const std::vector<OpsetImport>& imports);
  void pairs(const Metadata& entries);
  void type(const Type& t);
  void dims(const std::optional<Dims>& dims);
  void tensor_type(DType dtype, const Shape& shape);
  /// The number of elements to show.
  template <typename T, typename Each>
  void elements(const T* data, int64_t count, Each each) {
    const int64_t shown = options_.max_elements < 0
                              ? count
                              : std::min<int64_t>(count, std::max<int64_t>(options_.max_elements, 0));
    for (int64_t i = 0; i < shown; ++i) {
      if (i > 0) out_ += ", ";
      each(data[i]);
    }
    if (shown < count) out_ += shown > 0 ? ", ..." : "...";
  }
  void constant(const UnalignedTensor& t);
  void tensor(const UnalignedTensor& t);
  void sparse(const Attribute::Sparse& s);
  void value(const Value& v, bool is_initializer);
  void initializer_data(const Value& v);

  friend struct AttributeValue;
  void annotate_attribute(const Attribute& a);
  void attribute(const Attribute& a);
  void attributes(const std::vector<Attribute>& list);
  void names(const std::vector<Value*>& values);
  void node(const Node& n);
  void nodes(const Graph& g);
  void values(const Graph& g);
  void graph(const Graph& g);
  void function(const Function& f);

  const TextOptions& options_;
  std::string out_;
  int level_ = 0;
};

}  // namespace assay
