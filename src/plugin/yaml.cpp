#include "plugin/yaml.h"

#include <yaml.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "assay/error.h"
#include "base/python_repr.h"

namespace assay {
namespace {

constexpr int kMaxNesting = 100;
/// Values with all that aliases repeat; a long text counts for several.
constexpr size_t kMaxNodes = 1000000;
constexpr size_t kTextOfNode = 64;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

std::string without_underscores(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '_') out += c;
  return out;
}

std::optional<int64_t> yaml_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  std::string_view digits = text;
  if (text.starts_with("0x") || text.starts_with("0b")) {
    base = text[1] == 'x' ? 16 : 2;
    digits.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  if (digits.empty() || digits[0] == '-' || (base == 10 && digits[0] == '_')) return std::nullopt;
  const std::string plain = (negative ? "-" : "") + without_underscores(digits);
  int64_t value = 0;
  const char* end = plain.data() + plain.size();
  const auto [stop, status] = std::from_chars(plain.data(), end, value, base);
  if (stop != end || plain.empty() || status != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> yaml_number(std::string_view text) {
  std::string_view body = text;
  const bool negative = body.starts_with('-');
  if (negative || body.starts_with('+')) body.remove_prefix(1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_one_of(body, {".inf", ".Inf", ".INF"})) return negative ? -kInfinity : kInfinity;
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  // A point is required, and an exponent has a sign.
  const size_t point = body.find('.');
  if (point == std::string_view::npos || body.size() == 1) return std::nullopt;
  const size_t exponent = body.find_first_of("eE");
  const std::string_view mantissa = body.substr(0, exponent);
  if (mantissa.find_first_not_of("0123456789_.") != std::string_view::npos || mantissa[0] == '_')
    return std::nullopt;
  if (mantissa.find('.', point + 1) != std::string_view::npos) return std::nullopt;
  if (exponent != std::string_view::npos &&
      (exponent + 2 >= body.size() || (body[exponent + 1] != '+' && body[exponent + 1] != '-') ||
       body.find_first_not_of("0123456789", exponent + 2) != std::string_view::npos))
    return std::nullopt;
  return std::strtod(without_underscores(text).c_str(), nullptr);
}

/// Resolves an unquoted scalar.
YamlNode::Data resolve(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return {};
  if (is_one_of(text, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) return false;
  if (const auto i = yaml_integer(text)) return *i;
  if (const auto d = yaml_number(text)) return *d;
  return std::string(text);
}

std::string_view bytes(const yaml_char_t* text, size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}

struct Event {
  yaml_event_t event{};
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event); }
  yaml_event_type_t type() const { return event.type; }
  int line() const { return static_cast<int>(event.start_mark.line) + 1; }
};

}  // namespace

std::string_view YamlNode::kind() const {
  constexpr std::string_view kKinds[] = {"null", "a truth value", "an integer", "a number",
                                         "text", "a list",        "a map"};
  return kKinds[data_.index()];
}

const YamlNode* YamlNode::find(std::string_view key) const {
  if (const Map* map = get_if<Map>())
    for (const auto& [name, node] : *map)
      if (name == key) return &node;
  return nullptr;
}

/// Builds nodes from libyaml's events.
class YamlReader {
 public:
  YamlReader(std::string_view text, std::string name) : name_(std::move(name)) {
    require(yaml_parser_initialize(&parser_) == 1, ErrorCode::kInternal,
            "libyaml has no memory for its parser");
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  std::vector<YamlNode> documents() {
    std::vector<YamlNode> list;
    for (;;) {
      Event e;
      read(e);
      if (e.type() == YAML_STREAM_END_EVENT) return list;
      if (e.type() != YAML_DOCUMENT_START_EVENT) continue;  // the stream's start, a document's end
      anchors_.clear();
      Event content;
      read(content);
      list.push_back(node(content, 0));
    }
  }

 private:
  [[noreturn]] void error(size_t line, std::string_view what) const {
    Error e(ErrorCode::kInvalidArgument, std::string(what));
    e.add_context({ErrorPlace::Kind::kFile, name_, fmt::format("in {}, line {}", name_, line)});
    throw e;
  }

  void read(Event& e) {
    if (yaml_parser_parse(&parser_, &e.event) == 1) return;
    const char* problem = parser_.problem != nullptr ? parser_.problem : "the text cannot be read";
    error(std::max(parser_.problem_mark.line, parser_.mark.line) + 1,
          fmt::format("this is not YAML: {}", problem));
  }

  YamlNode node(const Event& e, int depth) {
    if (depth > kMaxNesting) error(e.line(), fmt::format("values nest deeper than {}", kMaxNesting));
    if (e.type() == YAML_ALIAS_EVENT) return alias(e);
    const size_t before = nodes_;
    spend(e, 1);
    const yaml_char_t* anchor = nullptr;
    YamlNode n;
    if (e.type() == YAML_SCALAR_EVENT) {
      anchor = e.event.data.scalar.anchor;
      n = scalar(e);
    } else if (e.type() == YAML_SEQUENCE_START_EVENT) {
      anchor = e.event.data.sequence_start.anchor;
      check_tag(e, e.event.data.sequence_start.tag, YAML_SEQ_TAG);
      n.data_ = list(depth);
    } else {
      anchor = e.event.data.mapping_start.anchor;
      check_tag(e, e.event.data.mapping_start.tag, YAML_MAP_TAG);
      n.data_ = map(depth);
    }
    n.line_ = e.line();
    if (anchor != nullptr) {
      const size_t cost = nodes_ - before;
      spend(e, cost);  // the copy
      anchors_[reinterpret_cast<const char*>(anchor)] = {n, cost};
    }
    return n;
  }

  /// Counts values against the limit.
  void spend(const Event& e, size_t values) {
    nodes_ += values;
    if (nodes_ > kMaxNodes) error(e.line(), fmt::format("there are more than {} values", kMaxNodes));
  }

  YamlNode alias(const Event& e) {
    const auto it = anchors_.find(reinterpret_cast<const char*>(e.event.data.alias.anchor));
    if (it == anchors_.end()) error(e.line(), "an alias stands before the value that it repeats");
    spend(e, it->second.second);
    return it->second.first;
  }

  void check_tag(const Event& e, const yaml_char_t* tag, const char* allowed) const {
    if (tag == nullptr || std::string_view(reinterpret_cast<const char*>(tag)) == allowed) return;
    error(e.line(), fmt::format("the type {} is not one of text, numbers, lists and maps",
                                reinterpret_cast<const char*>(tag)));
  }

  YamlNode scalar(const Event& e) {
    const auto& s = e.event.data.scalar;
    const std::string_view text = bytes(s.value, s.length);
    spend(e, text.size() / kTextOfNode);
    YamlNode n;
    n.is_plain_ = s.style == YAML_PLAIN_SCALAR_STYLE && s.tag == nullptr;
    if (n.is_plain_) {
      n.data_ = resolve(text);
    } else {
      check_tag(e, s.tag, YAML_STR_TAG);
      n.data_ = std::string(text);
    }
    return n;
  }

  YamlNode::List list(int depth) {
    YamlNode::List items;
    for (;;) {
      Event e;
      read(e);
      if (e.type() == YAML_SEQUENCE_END_EVENT) return items;
      items.push_back(node(e, depth + 1));
    }
  }

  YamlNode::Map map(int depth) {
    YamlNode::Map entries;
    std::map<std::string, int, std::less<>> lines;
    for (;;) {
      Event key;
      read(key);
      if (key.type() == YAML_MAPPING_END_EVENT) return entries;
      if (key.type() != YAML_SCALAR_EVENT) error(key.line(), "a key of a map is not text");
      const auto& s = key.event.data.scalar;
      std::string name(bytes(s.value, s.length));
      spend(key, 1 + name.size() / kTextOfNode);
      const auto [it, is_new] = lines.emplace(name, key.line());
      if (!is_new) error(key.line(), fmt::format("the key '{}' stands on line {} too", name, it->second));
      Event value;
      read(value);
      entries.emplace_back(std::move(name), node(value, depth + 1));
    }
  }

  yaml_parser_t parser_{};
  std::string name_;
  size_t nodes_ = 0;
  std::map<std::string, std::pair<YamlNode, size_t>, std::less<>>
      anchors_;  // with the number of values in each
};

std::vector<YamlNode> parse_yaml(std::string_view text, const std::string& name) {
  return YamlReader(text, name).documents();
}

namespace {

/// Writes nodes as libyaml's events.
class YamlWriter {
 public:
  YamlWriter() {
    require(yaml_emitter_initialize(&emitter_) == 1, ErrorCode::kInternal,
            "libyaml has no memory for its emitter");
    yaml_emitter_set_output(&emitter_, append, &text_);
    yaml_emitter_set_unicode(&emitter_, 0);
    yaml_emitter_set_width(&emitter_, 80);
  }
  ~YamlWriter() { yaml_emitter_delete(&emitter_); }
  YamlWriter(const YamlWriter&) = delete;
  YamlWriter& operator=(const YamlWriter&) = delete;

  std::string write(const std::vector<YamlNode>& documents) {
    emit([](yaml_event_t* e) { return yaml_stream_start_event_initialize(e, YAML_UTF8_ENCODING); });
    bool is_first = true;
    for (const YamlNode& d : documents) {
      emit([&](yaml_event_t* e) {
        return yaml_document_start_event_initialize(e, nullptr, nullptr, nullptr, is_first ? 1 : 0);
      });
      node(d);
      emit([](yaml_event_t* e) { return yaml_document_end_event_initialize(e, 1); });
      is_first = false;
    }
    emit([](yaml_event_t* e) { return yaml_stream_end_event_initialize(e); });
    require(yaml_emitter_flush(&emitter_) == 1, ErrorCode::kInternal, "libyaml cannot end its text");
    return std::move(text_);
  }

 private:
  static int append(void* text, unsigned char* data, size_t size) {
    static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), size);
    return 1;
  }

  template <typename Make>
  void emit(Make make) {
    yaml_event_t event;
    const bool ok = make(&event) == 1 && yaml_emitter_emit(&emitter_, &event) == 1;
    require(ok, ErrorCode::kInvalidArgument, "the text cannot be written as YAML: {}",
            emitter_.problem != nullptr ? emitter_.problem : "it is not UTF-8");
  }

  void scalar(std::string_view text, bool is_text) {
    // Text that would be read as something else needs quotes.
    const bool plain = !is_text || std::holds_alternative<std::string>(resolve(text));
    emit([&](yaml_event_t* e) {
      return yaml_scalar_event_initialize(
          e, nullptr, nullptr, reinterpret_cast<const unsigned char*>(text.data()),
          static_cast<int>(text.size()), plain ? 1 : 0, 1, YAML_ANY_SCALAR_STYLE);
    });
  }

  static std::string number_text(double d) {
    if (std::isnan(d)) return ".nan";
    if (std::isinf(d)) return d < 0 ? "-.inf" : ".inf";
    std::string text = python_float_repr(d);
    // 1e-05 would be read as text.
    if (const size_t e = text.find('e'); e != std::string::npos && text.find('.') == std::string::npos)
      text.insert(e, ".0");
    return text;
  }

  void node(const YamlNode& n) {
    if (const auto* items = n.get_if<YamlNode::List>()) {
      emit([&](yaml_event_t* e) {
        return yaml_sequence_start_event_initialize(
            e, nullptr, nullptr, 1, items->empty() ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
      });
      for (const YamlNode& item : *items) node(item);
      emit([](yaml_event_t* e) { return yaml_sequence_end_event_initialize(e); });
    } else if (const auto* entries = n.get_if<YamlNode::Map>()) {
      emit([&](yaml_event_t* e) {
        return yaml_mapping_start_event_initialize(
            e, nullptr, nullptr, 1, entries->empty() ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
      });
      for (const auto& [key, value] : *entries) {
        scalar(key, true);
        node(value);
      }
      emit([](yaml_event_t* e) { return yaml_mapping_end_event_initialize(e); });
    } else if (const auto* text = n.get_if<std::string>()) {
      scalar(*text, true);
    } else if (const auto* truth = n.get_if<bool>()) {
      scalar(*truth ? "true" : "false", false);
    } else if (const auto* integer = n.get_if<int64_t>()) {
      scalar(std::to_string(*integer), false);
    } else if (const auto* number = n.get_if<double>()) {
      scalar(number_text(*number), false);
    } else {
      scalar("null", false);
    }
  }

  yaml_emitter_t emitter_{};
  std::string text_;
};

}  // namespace

std::string yaml_text(const std::vector<YamlNode>& documents) { return YamlWriter().write(documents); }

}  // namespace assay
