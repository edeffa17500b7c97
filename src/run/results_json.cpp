#include "run/results_json.h"

#include <algorithm>

#include "assay/error.h"
#include "base/json_reader.h"

namespace assay::internal {
namespace {

constexpr std::string_view kMarker = "polygraphy_class";
constexpr std::string_view kOldMarkerPrefix = "__polygraphy_encoded_";
constexpr std::string_view kOldMarkerValue = "polygraphy_serialized_json_type";
/// Strings of this size are assumed to be arrays, whose pages are released.
constexpr size_t kLongString = 1 << 16;
/// A guard against files made to exhaust memory: a result file has some eight values per tensor.
constexpr size_t kMaxNodes = size_t{1} << 24;

class Parser {
 public:
  explicit Parser(JsonDocument& document)
      : document_(document),
        reader_(document.file->bytes(), document.file->path(),
                [this](std::string_view read) { document_.file->drop_pages(read.data(), read.size()); }) {}

  void parse() {
    document_.root = value();
    reader_.next();
  }

 private:
  JsonNode value() {
    if (++nodes_ > kMaxNodes) reader_.error("the JSON document has too many values to be a result file");
    JsonNode node;
    const size_t first = next_offset();
    switch (reader_.next()) {
      case JsonEvent::kBeginObject:
        node.kind = JsonNode::Kind::kDict;
        while (reader_.next_key()) {
          const std::string_view key = kept_string();
          node.children.push_back(value());
          node.children.back().key = key;
        }
        break;
      case JsonEvent::kBeginArray:
        node.kind = JsonNode::Kind::kList;
        while (reader_.next_element()) node.children.push_back(value());
        break;
      case JsonEvent::kString:
        node.kind = JsonNode::Kind::kString;
        node.text = kept_string();
        if (node.text.size() >= kLongString && reader_.string_is_plain())
          document_.file->drop_pages(node.text.data(), node.text.size());
        break;
      case JsonEvent::kNumber:
        node.kind = JsonNode::Kind::kNumber;
        node.text = reader_.number_text();
        break;
      case JsonEvent::kTrue:
      case JsonEvent::kFalse:
        node.kind = JsonNode::Kind::kTruth;
        break;
      default:
        break;
    }
    if (node.text.data() == nullptr)
      node.text = document_.file->bytes().substr(first, reader_.offset() - first);
    return node;
  }

  /// Where the next event begins.
  size_t next_offset() {
    reader_.peek();
    return reader_.event_offset();
  }

  std::string_view kept_string() {
    if (reader_.string_is_plain()) return reader_.string();
    return document_.unescaped.emplace_back(reader_.string());
  }

  JsonDocument& document_;
  JsonReader reader_;
  size_t nodes_ = 0;
};

}  // namespace

const JsonNode* JsonNode::member(std::string_view name) const {
  const auto it =
      std::find_if(children.rbegin(), children.rend(), [&](const JsonNode& n) { return n.key == name; });
  return it == children.rend() ? nullptr : &*it;
}

std::string_view JsonNode::class_name() const {
  if (!is_dict()) return {};
  for (const JsonNode& n : children)
    if (n.is_string() && n.text == kOldMarkerValue && n.key.starts_with(kOldMarkerPrefix))
      return n.key.substr(kOldMarkerPrefix.size());
  const JsonNode* marker = member(kMarker);
  return marker != nullptr && marker->is_string() ? marker->text : std::string_view();
}

JsonDocument parse_json_file(const std::string& path) {
  JsonDocument document{.file = MappedFile::open(path)};
  Parser(document).parse();
  return document;
}

std::string python_class(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return "NoneType";
    case JsonNode::Kind::kTruth:
      return "bool";
    case JsonNode::Kind::kNumber:
      return node.text.find_first_not_of("-0123456789") == node.text.npos ? "int" : "float";
    case JsonNode::Kind::kString:
      return "str";
    case JsonNode::Kind::kList:
      return "list";
    case JsonNode::Kind::kDict:
      break;
  }
  return node.class_name().empty() ? "collections.OrderedDict" : std::string(node.class_name());
}

std::string excerpt(const JsonNode& node) {
  constexpr size_t kLimit = 200;
  return std::string(node.text.substr(0, kLimit)) + (node.text.size() > kLimit ? "..." : "");
}

}  // namespace assay::internal
