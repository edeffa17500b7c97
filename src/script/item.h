// Messages between this process and a script's: JSON values, which may include tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "assay/tensor.h"

namespace assay::script {

/// Null, a boolean, a number, a string, a list, a dictionary in order,
/// or a tensor (a container too). Accessors throw Error (kInternal) on
/// another type, which is a protocol violation of the other process.
class Item {
 public:
  using List = std::vector<Item>;
  using Dict = std::vector<std::pair<std::string, Item>>;

  Item() = default;
  Item(bool truth) : value_(truth) {}                         // NOLINT: these are items
  Item(int64_t number) : value_(number) {}                    // NOLINT
  Item(double number) : value_(number) {}                     // NOLINT
  Item(std::string text) : value_(std::move(text)) {}         // NOLINT
  Item(std::string_view text) : value_(std::string(text)) {}  // NOLINT
  Item(const char* text) : value_(std::string(text)) {}       // NOLINT
  Item(List list) : value_(std::move(list)) {}                // NOLINT
  Item(Dict dict) : value_(std::move(dict)) {}                // NOLINT
  Item(Tensor tensor) : value_(std::move(tensor)) {}          // NOLINT

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  bool is_dict() const { return std::holds_alternative<Dict>(value_); }
  bool is_integer() const { return std::holds_alternative<int64_t>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }

  bool truth() const { return get<bool>("a truth value"); }
  int64_t integer() const { return get<int64_t>("an integer"); }
  /// Of either kind of number.
  double number() const;
  const std::string& text() const { return get<std::string>("a text"); }
  const List& list() const { return get<List>("a list"); }
  const Dict& dict() const { return get<Dict>("a dictionary"); }
  const Tensor& tensor() const { return get<Tensor>("an array"); }
  /// The entry of a dictionary.
  const Item& at(std::string_view name) const;
  /// Null when there is none.
  const Item* find(std::string_view name) const;

  /// Calls the visitor with the value, std::monostate for null.
  template <typename Visitor>
  void visit(Visitor& visitor) const {
    std::visit(visitor, value_);
  }

 private:
  template <typename T>
  const T& get(const char* what) const {
    const T* value = std::get_if<T>(&value_);
    if (value == nullptr)
      fail(ErrorCode::kInternal, "a script's process did not send {} where it must", what);
    return *value;
  }
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Dict, Tensor> value_;
};

/// Tensors by name, as a dictionary, and back.
Item to_item(const TensorList& tensors);
TensorList to_tensors(const Item& dict);

/// A message: its header, and the bytes of the arrays that follow it. The views are valid as long as the item
/// and this.
struct Message {
  std::string header;
  std::vector<std::string_view> body;
  std::list<std::string> made;  ///< values whose wire form differs from memory: strings, packed types

  size_t body_bytes() const;
};
/// Writes the form of python/assay_child/wire.py. Throws Error for an item without a header form.
Message encode(const Item& item);

/// The item of a header; `read` fills the given bytes with the next part of the body. Throws Error
/// (kInternal) for an invalid header, and (kInvalidArgument) for arrays beyond the memory limit.
Item decode(std::string_view header, const std::function<void(void* data, size_t bytes)>& read);

}  // namespace assay::script
