#include "tensor/print.h"

#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "tensor/print_elements.h"

namespace assay {
namespace {

/// Columns that UTF-8 text takes, as Python's len() counts them.
int64_t width(const std::string& s) { return static_cast<int64_t>(count_characters(s)); }

constexpr int64_t kEllipsis = -1;

/// The elements of a tensor at flat indices, one after the other.
Tensor gather(const Tensor& t, const std::vector<int64_t>& indices) {
  Tensor out = Tensor::allocate(t.dtype(), Shape{static_cast<int64_t>(indices.size())});
  if (t.dtype() == DType::kString) {
    auto* to = out.mutable_data<std::string>();
    for (const int64_t i : indices) *to++ = t.data<std::string>()[i];
    return out;
  }
  const auto* from = static_cast<const unsigned char*>(t.data());
  auto* to = static_cast<unsigned char*>(out.mutable_data());
  const int bits = bit_width(t.dtype());
  if (bits >= 8) {
    const auto bytes = static_cast<size_t>(bits / 8);
    for (const int64_t i : indices) to = std::copy_n(from + static_cast<size_t>(i) * bytes, bytes, to);
    return out;
  }
  std::fill_n(to, out.nbytes(), 0);
  const int64_t per_byte = 8 / bits;
  for (int64_t k = 0; k < out.numel(); ++k) {
    const int64_t i = indices[static_cast<size_t>(k)];
    const int value = from[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1);
    to[k / per_byte] = static_cast<unsigned char>(to[k / per_byte] | value << (k % per_byte * bits));
  }
  return out;
}

class ArrayPrinter {
 public:
  ArrayPrinter(const Tensor& t, const PrintOptions& options) : linewidth_(options.linewidth) {
    const bool shorten = t.numel() > options.threshold;
    for (const int64_t n : t.shape()) kept_.push_back(kept_indices(n, shorten, options.edgeitems));
    std::vector<int64_t> shown;
    collect(t.shape().strides(), 0, 0, shown);
    words_ = internal::element_texts(gather(t, shown), options);
  }

  std::string print() { return axis_text(0, " ", linewidth_); }

 private:
  /// The printed part of an axis: indices, and kEllipsis where some are omitted.
  static std::vector<int64_t> kept_indices(int64_t n, bool shorten, int64_t edge) {
    std::vector<int64_t> kept;
    const bool cut = shorten && n > 2 * edge;
    const int64_t head = cut ? edge : n;
    for (int64_t i = 0; i < head; ++i) kept.push_back(i);
    if (!cut) return kept;
    kept.push_back(kEllipsis);
    for (int64_t i = n - std::max<int64_t>(edge, 1); i < n; ++i) kept.push_back(i);
    return kept;
  }

  /// The flat indices of printed elements, in that order.
  void collect(const std::vector<int64_t>& strides, size_t axis, int64_t offset,
               std::vector<int64_t>& shown) const {
    if (axis == strides.size()) {
      shown.push_back(offset);
      return;
    }
    for (const int64_t i : kept_[axis])
      if (i != kEllipsis) collect(strides, axis + 1, offset + i * strides[axis], shown);
  }

  /// The text from `axis` on; `indent` precedes every line but the first, lines end before `columns`.
  std::string axis_text(size_t axis, const std::string& indent, int64_t columns) {
    const bool innermost = axis + 1 == kept_.size();
    std::string s = innermost ? row_text(indent, columns) : block_text(axis, indent, columns);
    s.erase(0, indent.size());
    return "[" + s + "]";
  }

  std::string row_text(const std::string& indent, int64_t columns) {
    std::string s, line = indent;
    for (const int64_t i : kept_.back()) {
      const std::string& word = i == kEllipsis ? kDots : words_[next_word_++];
      if (line.size() > indent.size()) line += ' ';
      if (width(line) + width(word) > columns - 1 && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        s += line + "\n";
        line = indent;
      }
      line += word;
    }
    return s + line;
  }

  std::string block_text(size_t axis, const std::string& indent, int64_t columns) {
    const std::string separator(kept_.size() - axis - 1, '\n');
    std::string s;
    for (const int64_t i : kept_[axis]) {
      if (!s.empty()) s += separator;
      s += indent + (i == kEllipsis ? kDots : axis_text(axis + 1, indent + ' ', columns - 1));
    }
    return s;
  }

  inline static const std::string kDots = "...";

  int64_t linewidth_;
  std::vector<std::vector<int64_t>> kept_;  ///< per axis
  std::vector<std::string> words_;
  size_t next_word_ = 0;
};

/// Lines after the first are moved right, under the bracket that opens the container.
std::string indented(const std::string& text) {
  std::string out;
  for (const char ch : text) out += ch == '\n' ? std::string("\n ") : std::string(1, ch);
  return out;
}

std::string container_str(const Tensor& t, const PrintOptions& options) {
  if (t.dtype() == DType::kOptional) return t.numel() == 0 ? "None" : array_str(t.elements()[0], options);
  if (t.dtype() == DType::kMap)
    return "{" + indented(array_str(t.elements()[0], options) + ":\n" + array_str(t.elements()[1], options)) +
           "}";
  std::string text;
  for (const Tensor& e : t.elements()) text += (text.empty() ? "" : ",\n") + array_str(e, options);
  return "[" + indented(text) + "]";
}

}  // namespace

std::string array_str(const Tensor& t, const PrintOptions& options) {
  if (t.is_container()) return container_str(t, options);
  if (t.rank() == 0) return internal::scalar_text(t);
  if (t.numel() == 0) return "[]";
  return ArrayPrinter(t, options).print();
}

}  // namespace assay
