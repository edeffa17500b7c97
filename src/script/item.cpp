#include "script/item.h"

#include <cstring>
#include <numeric>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "tensor/packed_bits.h"

namespace assay::script {
namespace {

/// Of lists, dictionaries and containers inside each other.
constexpr int kMaxDepth = 64;

[[noreturn]] void malformed(std::string_view what) {
  fail(ErrorCode::kInternal, "a script's process sent {}, which is no message", what);
}

class ItemWriter {
 public:
  explicit ItemWriter(Message& message)
      : message_(message), json_([&message](std::string_view text) { message.header += text; }) {}

  void operator()(std::monostate) { json_.null(); }
  void operator()(bool truth) { json_.value(truth); }
  void operator()(int64_t number) { json_.value(number); }
  void operator()(double number) { json_.value(number); }
  void operator()(const std::string& text) { json_.value(text); }
  void operator()(const Item::List& list) {
    json_.begin_array();
    for (const Item& element : list) element.visit(*this);
    json_.end_array();
  }
  void operator()(const Item::Dict& dict) {
    json_.begin_object().key("d").begin_array();
    for (const auto& [name, value] : dict) {
      json_.begin_array().value(name);
      value.visit(*this);
      json_.end_array();
    }
    json_.end_array().end_object();
  }
  void operator()(const Tensor& t) {
    json_.begin_object();
    if (t.is_container()) {
      json_.key(t.dtype() == DType::kSequence   ? "s"
                : t.dtype() == DType::kOptional ? "o"
                                                : "m")
          .begin_array();
      for (const Tensor& element : t.elements()) (*this)(element);
      json_.end_array().end_object();
      return;
    }
    json_.key("t").begin_array().value(static_cast<int64_t>(t.dtype())).begin_array();
    for (const int64_t d : t.shape()) json_.value(d);
    json_.end_array().value(static_cast<int64_t>(add_bytes(t))).end_array().end_object();
  }

 private:
  size_t add_bytes(const Tensor& t) {
    std::string made;
    if (t.dtype() == DType::kString) {
      for (const std::string& s : t.span<std::string>()) {
        const auto length = static_cast<uint32_t>(s.size());
        made.append(reinterpret_cast<const char*>(&length), sizeof length).append(s);
      }
    } else if (is_packed(t.dtype())) {
      made.resize(static_cast<size_t>(t.numel()));
      unpack_bits(static_cast<const uint8_t*>(t.data()), 0, bit_width(t.dtype()),
                  {reinterpret_cast<uint8_t*>(made.data()), made.size()});
    } else {
      if (t.nbytes() > 0) message_.body.emplace_back(static_cast<const char*>(t.data()), t.nbytes());
      return t.nbytes();
    }
    const size_t bytes = made.size();
    if (bytes > 0) message_.body.emplace_back(message_.made.emplace_back(std::move(made)));
    return bytes;
  }

  Message& message_;
  JsonWriter json_;
};

class ItemReader {
 public:
  ItemReader(std::string_view header, const std::function<void(void*, size_t)>& read)
      : json_(header, "the message of a script's process"), read_(read) {}

  Item read_all() {
    Item item = read_item(0);
    if (json_.next() != JsonEvent::kEnd) malformed("more than one value");
    return item;
  }

 private:
  Item read_item(int depth) {
    if (depth > kMaxDepth) malformed("values too deep inside each other");
    switch (json_.next()) {
      case JsonEvent::kString:
        return json_.string();
      case JsonEvent::kTrue:
        return true;
      case JsonEvent::kFalse:
        return false;
      case JsonEvent::kNull:
        return {};
      case JsonEvent::kNumber:
        if (json_.number_text().find_first_of(".eENI") == std::string_view::npos) return json_.as_int64();
        return json_.as_double();
      case JsonEvent::kBeginArray:
        return read_list(depth);
      case JsonEvent::kBeginObject:
        return read_marked(depth);
      default:
        malformed("JSON that ends too early");
    }
  }

  Item read_list(int depth) {
    Item::List list;
    while (json_.next_element()) list.push_back(read_item(depth + 1));
    return list;
  }

  Item read_marked(int depth) {
    if (!json_.next_key()) malformed("an object without a mark");
    const std::string mark(json_.string());
    Item item;
    if (mark == "d") {
      item = read_dict(depth);
    } else if (mark == "t") {
      item = read_tensor();
    } else if (mark == "s" || mark == "o" || mark == "m") {
      item = read_container(mark[0], depth);
    } else {
      malformed("an object with an unknown mark");
    }
    if (json_.next_key()) malformed("an object with two marks");
    return item;
  }

  Item read_dict(int depth) {
    Item::Dict dict;
    json_.expect(JsonEvent::kBeginArray, "a dictionary");
    while (json_.next_element()) {
      json_.expect(JsonEvent::kBeginArray, "an entry");
      if (!json_.next_element()) malformed("an entry without a name");
      std::string name(json_.expect_string("a name"));
      if (!json_.next_element()) malformed("an entry without a value");
      dict.emplace_back(std::move(name), read_item(depth + 1));
      if (json_.next_element()) malformed("an entry with two values");
    }
    return dict;
  }

  Tensor read_container(char mark, int depth) {
    std::vector<Tensor> elements;
    json_.expect(JsonEvent::kBeginArray, "a container");
    while (json_.next_element()) elements.push_back(read_item(depth + 1).tensor());
    if (mark == 's') return Tensor::sequence(std::move(elements));
    if (mark == 'o') {
      if (elements.size() > 1) malformed("an optional of two values");
      return Tensor::optional(elements.empty() ? Tensor() : elements[0]);
    }
    if (elements.size() != 2) malformed("a map that is not keys and values");
    return Tensor::map(elements[0], elements[1]);
  }

  Tensor read_tensor() {
    json_.expect(JsonEvent::kBeginArray, "an array");
    if (!json_.next_element()) malformed("an array without a type");
    const int64_t number = json_.expect_int64("a type");
    if (!is_known_dtype(number)) malformed("an array of an unknown type");
    if (!json_.next_element()) malformed("an array without a shape");
    json_.expect(JsonEvent::kBeginArray, "a shape");
    std::vector<int64_t> extents;
    while (json_.next_element()) extents.push_back(json_.expect_int64("an extent"));
    if (!json_.next_element()) malformed("an array without a size");
    const int64_t bytes = json_.expect_int64("a size");
    if (json_.next_element()) malformed("an array with too many fields");
    return read_elements(static_cast<DType>(number), Shape(std::move(extents)), static_cast<size_t>(bytes));
  }

  Tensor read_elements(DType dtype, Shape shape, size_t bytes) {
    if (dtype == DType::kString) return read_strings(std::move(shape), bytes);
    const auto count = static_cast<size_t>(shape.numel());
    const size_t expected = is_packed(dtype) ? count : storage_bytes(dtype, shape.numel());
    if (bytes != expected) malformed("an array whose size contradicts its shape");
    Tensor t = Tensor::allocate(dtype, std::move(shape));
    if (is_packed(dtype)) {
      std::vector<uint8_t> codes(count);
      read_(codes.data(), count);
      if (count > 0) pack_bits(codes, bit_width(dtype), static_cast<uint8_t*>(t.mutable_data()));
    } else if (bytes > 0) {
      read_(t.mutable_data(), bytes);
    }
    return t;
  }

  Tensor read_strings(Shape shape, size_t bytes) {
    // Each takes four bytes at least.
    if (static_cast<size_t>(shape.numel()) > bytes / 4) malformed("fewer strings than their shape says");
    Tensor t = Tensor::allocate(DType::kString, std::move(shape));
    size_t left = bytes;
    for (std::string& s : t.mutable_span<std::string>()) {
      uint32_t length = 0;
      if (left < sizeof length) malformed("strings that end too early");
      read_(&length, sizeof length);
      left -= sizeof length;
      if (left < length) malformed("strings that end too early");
      s.resize(length);
      if (length > 0) read_(s.data(), length);
      left -= length;
    }
    if (left != 0) malformed("more strings than their shape says");
    return t;
  }

  JsonReader json_;
  const std::function<void(void*, size_t)>& read_;
};

}  // namespace

double Item::number() const {
  if (const auto* whole = std::get_if<int64_t>(&value_)) return static_cast<double>(*whole);
  return get<double>("a number");
}

const Item* Item::find(std::string_view name) const {
  for (const auto& [key, value] : dict())
    if (key == name) return &value;
  return nullptr;
}

const Item& Item::at(std::string_view name) const {
  const Item* item = find(name);
  if (item == nullptr) fail(ErrorCode::kInternal, "a script's process did not send '{}' where it must", name);
  return *item;
}

Item to_item(const TensorList& tensors) {
  Item::Dict dict;
  for (const NamedTensor& t : tensors) dict.emplace_back(t.name, t.tensor);
  return dict;
}

TensorList to_tensors(const Item& dict) {
  TensorList list;
  for (const auto& [name, value] : dict.dict()) list.push_back({name, value.tensor()});
  return list;
}

size_t Message::body_bytes() const {
  return std::accumulate(body.begin(), body.end(), size_t{0},
                         [](size_t sum, std::string_view piece) { return sum + piece.size(); });
}

Message encode(const Item& item) {
  Message message;
  ItemWriter writer(message);
  item.visit(writer);
  return message;
}

Item decode(std::string_view header, const std::function<void(void* data, size_t bytes)>& read) {
  return ItemReader(header, read).read_all();
}

}  // namespace assay::script
