#include "ops/schema.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <map>
#include <mutex>

#include "ops/op_set.h"

namespace assay {
namespace {

/// Splits one declaration into words, numbers, strings and marks.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {}

  bool at_end() {
    skip_space();
    return pos_ == line_.size();
  }
  bool take(std::string_view mark) {
    skip_space();
    if (line_.substr(pos_, mark.size()) != mark) return false;
    pos_ += mark.size();
    return true;
  }
  void expect(std::string_view mark) {
    if (!take(mark)) bad();
  }
  /// Everything up to white space, with balanced parentheses kept together.
  std::string_view word() {
    skip_space();
    const size_t first = pos_;
    int depth = 0;
    while (pos_ < line_.size() && (depth > 0 || !is_space(line_[pos_]))) {
      if (line_[pos_] == '(') ++depth;
      if (line_[pos_] == ')') --depth;
      ++pos_;
    }
    if (first == pos_) bad();
    return line_.substr(first, pos_ - first);
  }
  /// An identifier, ended by `:`.
  std::string name() {
    skip_space();
    const size_t first = pos_;
    while (pos_ < line_.size() && line_[pos_] != ':') ++pos_;
    std::string out(line_.substr(first, pos_ - first));
    expect(":");
    return out;
  }
  std::string quoted() {
    expect("\"");
    const size_t end = line_.find('"', pos_);
    if (end == std::string_view::npos) bad();
    std::string out(line_.substr(pos_, end - pos_));
    pos_ = end + 1;
    return out;
  }
  template <typename T>
  T number() {
    skip_space();
    T value{};
    const auto [end, ec] = std::from_chars(line_.data() + pos_, line_.data() + line_.size(), value);
    if (ec != std::errc()) bad();
    pos_ = static_cast<size_t>(end - line_.data());
    return value;
  }
  template <typename Item>
  void list(Item item) {
    expect("[");
    while (!take("]")) {
      item();
      take(",");
    }
  }
  [[noreturn]] void bad() const { fail(ErrorCode::kInternal, "cannot read the schema line: {}", line_); }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t'; }
  void skip_space() {
    while (pos_ < line_.size() && is_space(line_[pos_])) ++pos_;
  }

  std::string_view line_;
  size_t pos_ = 0;
};

constexpr std::string_view kFloatTypes = "float16 float double";
constexpr std::string_view kIntegerTypes = "uint8 uint16 uint32 uint64 int8 int16 int32 int64";
constexpr std::string_view kOtherTypes = "string bool complex64 complex128";
/// Types that each later IR version added to the list of all tensor types.
constexpr std::pair<int, std::string_view> kAddedTypes[] = {
    {4, "bfloat16"},    {9, "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz"},
    {10, "uint4 int4"}, {11, "float4e2m1"},
    {12, "float8e8m0"}, {13, "uint2 int2"},
};

void append_words(std::string_view words, std::string_view prefix, std::string_view suffix,
                  std::vector<std::string>& out) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    out.push_back(std::string(prefix) + std::string(words.substr(0, end)) + std::string(suffix));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

/// Adds one type, or the types of a group such as @all_ir4 or seq(tensor(@all)).
void append_types(std::string_view word, std::vector<std::string>& out, const Scanner& s) {
  const size_t at = word.find('@');
  if (at == std::string_view::npos) {
    out.emplace_back(word);
    return;
  }
  const size_t end = std::min(word.find(')', at), word.size());
  const std::string_view prefix = word.substr(0, at), suffix = word.substr(end);
  std::string_view group = word.substr(at + 1, end - at - 1);
  int ir = 0;
  if (const size_t mark = group.find("_ir"); mark != std::string_view::npos) {
    std::from_chars(group.data() + mark + 3, group.data() + group.size(), ir);
    group = group.substr(0, mark);
  }
  if (group != "float" && group != "numeric" && group != "all") s.bad();
  if (group != "float") append_words(kIntegerTypes, prefix, suffix, out);
  append_words(kFloatTypes, prefix, suffix, out);
  if (group == "all") append_words(kOtherTypes, prefix, suffix, out);
  for (const auto& [since, types] : kAddedTypes)
    if (since <= ir) append_words(types, prefix, suffix, out);
}

Parameter read_parameter(Scanner& s) {
  Parameter p;
  p.name = s.name();
  p.type = s.word();
  if (s.take("?")) {
    p.option = Parameter::Option::kOptional;
  } else if (s.take("...")) {
    p.option = Parameter::Option::kVariadic;
    if (s.take("any")) p.homogeneous = false;
    if (!s.at_end()) p.min_arity = s.number<int>();
  }
  return p;
}

Attribute::Data read_default(Scanner& s, const std::string& kind) {
  if (kind == "int") return s.number<int64_t>();
  if (kind == "float") return s.number<float>();
  if (kind == "string") return s.quoted();
  if (kind == "ints") {
    std::vector<int64_t> v;
    s.list([&] { v.push_back(s.number<int64_t>()); });
    return v;
  }
  if (kind == "floats") {
    std::vector<float> v;
    s.list([&] { v.push_back(s.number<float>()); });
    return v;
  }
  if (kind == "strings") {
    std::vector<std::string> v;
    s.list([&] { v.push_back(s.quoted()); });
    return v;
  }
  s.bad();
}

AttributeDef read_attribute(Scanner& s) {
  AttributeDef a;
  a.name = s.name();
  a.kind = s.word();
  if (s.take("required"))
    a.required = true;
  else if (s.take("="))
    a.fallback = read_default(s, a.kind);
  return a;
}

int min_arity(const std::vector<Parameter>& list) {
  int n = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].option == Parameter::Option::kSingle) n = static_cast<int>(i) + 1;
    if (list[i].option == Parameter::Option::kVariadic && list[i].min_arity > 0)
      n = static_cast<int>(i) + list[i].min_arity;
  }
  return n;
}

int max_arity(const std::vector<Parameter>& list) {
  if (!list.empty() && list.back().option == Parameter::Option::kVariadic) return INT_MAX;
  return static_cast<int>(list.size());
}

/// The bits of the types that a parameter allows.
uint64_t kinds_of(const std::vector<std::string>& types) {
  uint64_t kinds = 0;
  for (const std::string& type : types) {
    if (type.starts_with("seq("))
      kinds |= value_kind(DType::kSequence);
    else if (type.starts_with("optional("))
      kinds |= value_kind(DType::kOptional);
    else if (type.starts_with("map("))
      kinds |= value_kind(DType::kMap);
    else if (const std::optional<DType> dtype = dtype_from_name(type))
      kinds |= value_kind(*dtype);
  }
  return kinds;
}

/// The text itself, or that of the version it refers to.
std::string_view own_text(std::string_view text) {
  constexpr std::string_view kSameAs = "same as ";
  if (!text.starts_with(kSameAs)) return text;
  const std::string_view label = text.substr(kSameAs.size());
  const size_t dash = label.rfind('-'), dot = label.rfind('.', dash);
  int since = 0;
  if (dash != label.npos) std::from_chars(label.data() + dash + 1, label.data() + label.size(), since);
  const std::string_view domain = dot == label.npos ? std::string_view() : label.substr(0, dot);
  const size_t name = dot == label.npos ? 0 : dot + 1;
  const OpDef* op =
      dash == label.npos ? nullptr : built_in_ops().find(domain, label.substr(name, dash - name));
  const auto versions = op != nullptr ? op->versions : std::span<const OpVersion>();
  const auto version =
      std::find_if(versions.begin(), versions.end(), [&](const OpVersion& v) { return v.since == since; });
  if (version == versions.end() || version->schema.starts_with(kSameAs))
    fail(ErrorCode::kInternal, "no operator version has a schema text of its own as {}", label);
  return version->schema;
}

const Parameter* parameter(const std::vector<Parameter>& list, size_t i) {
  if (i < list.size()) return &list[i];
  if (!list.empty() && list.back().option == Parameter::Option::kVariadic) return &list.back();
  return nullptr;
}

}  // namespace

int Schema::min_inputs() const { return min_arity(inputs); }
int Schema::max_inputs() const { return max_arity(inputs); }
int Schema::min_outputs() const { return min_arity(outputs); }
int Schema::max_outputs() const { return max_arity(outputs); }
const Parameter* Schema::input(size_t i) const { return parameter(inputs, i); }
const Parameter* Schema::output(size_t i) const { return parameter(outputs, i); }

const AttributeDef* Schema::attribute(std::string_view name) const {
  for (const AttributeDef& a : attributes)
    if (a.name == name) return &a;
  return nullptr;
}

std::vector<std::string> Schema::allowed_types(const Parameter& p) const {
  for (const TypeConstraint& c : constraints)
    if (c.name == p.type) return c.types;
  return {p.type};
}

Schema parse_schema(std::string_view text) {
  text = own_text(text);
  Schema schema;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    Scanner s(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (s.at_end()) continue;
    const std::string_view what = s.word();
    if (what == "in") {
      schema.inputs.push_back(read_parameter(s));
    } else if (what == "out") {
      schema.outputs.push_back(read_parameter(s));
    } else if (what == "attr") {
      schema.attributes.push_back(read_attribute(s));
    } else if (what == "type") {
      TypeConstraint c{.name = s.name(), .types = {}};
      while (!s.at_end()) append_types(s.word(), c.types, s);
      schema.constraints.push_back(std::move(c));
    } else {
      s.bad();
    }
    if (!s.at_end()) s.bad();
  }
  for (auto* list : {&schema.inputs, &schema.outputs})
    for (Parameter& p : *list) p.kinds = kinds_of(schema.allowed_types(p));
  return schema;
}

const Schema& schema_of(const OpVersion& version) {
  static std::mutex mutex;
  static auto* const cache = new std::map<const OpVersion*, Schema>;  // references stay valid: node-based
  const std::lock_guard lock(mutex);
  auto it = cache->find(&version);
  if (it == cache->end()) it = cache->emplace(&version, parse_schema(version.schema)).first;
  return it->second;
}

}  // namespace assay
