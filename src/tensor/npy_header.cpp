#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <climits>
#include <optional>

#include "base/bounds.h"
#include "base/python_repr.h"
#include "base/utf8.h"
#include "tensor/npy.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "element bytes are written as they lie in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
/// NumPy's own limit on a header it parses; ours guards against the same nonsense.
constexpr size_t kMaxHeader = 1 << 20;
/// NumPy arrays have at most 64 axes.
constexpr size_t kMaxRank = 64;

[[noreturn]] void malformed(std::string_view why) {
  fail(ErrorCode::kInvalidArgument, "the .npy header is malformed: {}", why);
}

/// Bytes before the header's text, for a known version.
size_t prefix_bytes(std::string_view bytes) { return bytes[6] == 1 ? 10 : 12; }

size_t text_bytes(std::string_view bytes) {
  size_t n = 0;
  for (size_t i = prefix_bytes(bytes); i-- > 8;) n = n << 8 | static_cast<unsigned char>(bytes[i]);
  return n;
}

/// Reads the one kind of text NumPy writes here: a dict of strings, booleans and tuples of integers.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      malformed(fmt::format("expected '{}' before {}", c, python_str_repr(rest_.substr(0, 20))));
  }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  bool at_list() {
    skip_blanks();
    return rest_.starts_with('[') || rest_.starts_with('(');
  }

  std::string_view string() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    if (quote != '\'' && quote != '"') malformed("expected a string");
    const size_t end = rest_.find(quote, 1);
    if (end == rest_.npos) malformed("a string does not end");
    const std::string_view s = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return s;
  }

  bool truth() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    malformed("fortran_order is neither True nor False");
  }

  Shape shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(extent());
      if (shape.size() > kMaxRank) malformed(fmt::format("more than {} axes", kMaxRank));
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }

 private:
  void skip_blanks() {
    const size_t n = rest_.find_first_not_of(" \t\r\n\f\v");
    rest_.remove_prefix(n == rest_.npos ? rest_.size() : n);
  }

  int64_t extent() {
    skip_blanks();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) malformed("an extent does not fit 64 bits");
    if (error != std::errc()) malformed("an extent is not an integer");
    if (value < 0) malformed(fmt::format("the extent {} is negative", value));
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote long integers so
    return value;
  }

  std::string_view rest_;
};

/// NumPy's one-letter kinds with the sizes that have a DType.
struct KnownType {
  char kind;
  size_t bytes;
  DType dtype;
};
constexpr KnownType kKnownTypes[] = {
    {'b', 1, DType::kBool},    {'?', 1, DType::kBool},      {'i', 1, DType::kInt8},
    {'i', 2, DType::kInt16},   {'i', 4, DType::kInt32},     {'i', 8, DType::kInt64},
    {'u', 1, DType::kUInt8},   {'u', 2, DType::kUInt16},    {'u', 4, DType::kUInt32},
    {'u', 8, DType::kUInt64},  {'f', 2, DType::kFloat16},   {'f', 4, DType::kFloat32},
    {'f', 8, DType::kFloat64}, {'c', 8, DType::kComplex64}, {'c', 16, DType::kComplex128},
};

/// NumPy keeps the size of an element in an int.
constexpr size_t kMaxStringBytes = INT_MAX;

[[noreturn]] void unsupported_descr(std::string_view descr) {
  fail(ErrorCode::kUnsupported, "an array of NumPy type {} has no counterpart here", python_str_repr(descr));
}

void parse_descr(std::string_view descr, NpyHeader& header) {
  std::string_view rest = descr;
  char order = '|';
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != rest.npos) {
    order = rest[0];
    rest.remove_prefix(1);
  }
  if (rest.starts_with('O'))
    fail(ErrorCode::kUnsupported,
         "an array of Python objects would have to be unpickled, which could run any code");
  if (rest == "?") rest = "b1";
  size_t size = 0;
  const char kind = rest.empty() ? '\0' : rest[0];
  const char* first = rest.empty() ? rest.data() : rest.data() + 1;
  const auto [end, error] = std::from_chars(first, rest.data() + rest.size(), size);
  if (error != std::errc() || end != rest.data() + rest.size()) unsupported_descr(descr);
  header.swapped = order == '>';
  if (kind == 'U' || kind == 'S' || kind == 'a') {
    header.dtype = DType::kString;
    header.element = kind == 'U' ? NpyElement::kUcs4 : NpyElement::kBytes;
    const size_t unit = kind == 'U' ? sizeof(char32_t) : 1;
    if (size > kMaxStringBytes / unit) malformed("its strings are longer than NumPy's can be");
    header.element_bytes = unit * size;
    return;
  }
  const auto* known = std::find_if(std::begin(kKnownTypes), std::end(kKnownTypes),
                                   [&](const KnownType& k) { return k.kind == kind && k.bytes == size; });
  if (known == std::end(kKnownTypes)) unsupported_descr(descr);
  header.dtype = known->dtype;
  header.element_bytes = size;
  header.swapped = header.swapped && size > 1;
}

size_t string_width(const Tensor& t) {
  const size_t width = npy_string_length(t);
  require(width <= kMaxStringBytes / sizeof(char32_t), ErrorCode::kUnsupported,
          "NumPy has no type for strings of {} characters, so no .npy array can hold them", width);
  return width;
}

std::string descr_of(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kBool:
      return "|b1";
    case DType::kString:
      return fmt::format("<U{}", string_width(t));
    default:
      break;
  }
  for (const KnownType& k : kKnownTypes)
    if (k.dtype == t.dtype()) return fmt::format("{}{}{}", k.bytes == 1 ? '|' : '<', k.kind, k.bytes);
  fail(ErrorCode::kUnsupported, "NumPy has no type {}, so no .npy array can hold it", dtype_name(t.dtype()));
}

}  // namespace

bool NpyHeader::is_native() const {
  return element == NpyElement::kPlain && !swapped && (!fortran_order || shape.rank() < 2) &&
         dtype != DType::kBool;
}

size_t npy_header_bytes(std::string_view bytes) {
  require(bytes.starts_with(kMagic) && bytes.size() >= 10, ErrorCode::kInvalidArgument,
          "the data is not an .npy array: it does not begin with NumPy's mark");
  const int major = bytes[6];
  require(major >= 1 && major <= 3, ErrorCode::kUnsupported, "version {}.{} of the .npy format is unknown",
          static_cast<unsigned>(static_cast<unsigned char>(major)), static_cast<unsigned char>(bytes[7]));
  require(bytes.size() >= prefix_bytes(bytes), ErrorCode::kInvalidArgument,
          "the .npy array ends within its header");
  const size_t n = text_bytes(bytes);
  require(n <= kMaxHeader, ErrorCode::kInvalidArgument,
          "the .npy header claims {} bytes, more than {} allowed", n, kMaxHeader);
  return prefix_bytes(bytes) + n;
}

NpyHeader parse_npy_header(std::string_view bytes) {
  const size_t whole = npy_header_bytes(bytes);
  require(bytes.size() >= whole, ErrorCode::kInvalidArgument,
          "the .npy array ends within its header: {} bytes of {}", bytes.size(), whole);
  HeaderText text(bytes.substr(prefix_bytes(bytes), whole - prefix_bytes(bytes)));
  NpyHeader header{.data_offset = whole};
  std::optional<std::string_view> descr;
  bool has_order = false, has_shape = false;
  text.expect('{');
  while (!text.accept('}')) {
    const std::string_view key = text.string();
    text.expect(':');
    if (key == "descr") {
      if (text.at_list()) fail(ErrorCode::kUnsupported, "a structured NumPy array has no counterpart here");
      descr = text.string();
    } else if (key == "fortran_order") {
      header.fortran_order = text.truth();
      has_order = true;
    } else if (key == "shape") {
      header.shape = text.shape();
      has_shape = true;
    } else {
      malformed(fmt::format("unknown key {}", python_str_repr(key)));
    }
    if (text.accept('}')) break;
    text.expect(',');
  }
  if (!text.at_end()) malformed("something follows the dict");
  if (!descr || !has_order || !has_shape) malformed("descr, fortran_order or shape is missing");
  parse_descr(*descr, header);
  const auto count = static_cast<size_t>(header.shape.numel());
  // Strings without bytes are free in the file but not in memory.
  constexpr size_t kMaxEmptyStrings = 1 << 16;
  if (header.element_bytes == 0 && count > kMaxEmptyStrings)
    malformed(fmt::format("{} strings of no length", count));
  const std::optional<uint64_t> data_bytes = checked_product({count, header.element_bytes});
  if (!data_bytes || *data_bytes > PTRDIFF_MAX)
    malformed(fmt::format("an array of shape {} does not fit in memory", header.shape.str()));
  header.data_bytes = *data_bytes;
  return header;
}

bool npy_can_hold(DType dtype) {
  return dtype == DType::kString || std::any_of(std::begin(kKnownTypes), std::end(kKnownTypes),
                                                [&](const KnownType& k) { return k.dtype == dtype; });
}

size_t npy_string_length(const Tensor& t) {
  size_t longest = 1;
  for (const std::string& s : t.span<std::string>()) longest = std::max(longest, count_characters(s));
  return longest;
}

std::string npy_header(const Tensor& t) {
  // NumPy leaves room for the first extent to grow to 21 digits, then pads to a multiple of 64.
  constexpr size_t kGrowthDigits = 21, kAlign = 64;
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr_of(t), t.shape().str());
  if (t.rank() > 0) dict.append(kGrowthDigits - std::to_string(t.dim(0)).size(), ' ');
  const bool fits_v1 = dict.size() + 1 + kAlign <= 65535;
  const size_t prefix = fits_v1 ? 10 : 12;
  dict.append(kAlign - (prefix + dict.size() + 1) % kAlign, ' ');
  dict += '\n';
  std::string out(kMagic);
  out += fits_v1 ? '\1' : '\2';
  out += '\0';
  for (size_t i = 0; i < prefix - 8; ++i) out += static_cast<char>(dict.size() >> (8 * i));
  return out + dict;
}

}  // namespace assay
