// schema_dump: prints every schema of this build as JSON, for schemas_test.py.
#include <cstdio>

#include "base/json_writer.h"
#include "ops/op_set.h"
#include "ops/schema.h"

namespace assay {
namespace {

void dump(JsonWriter& json, const Parameter& p) {
  constexpr const char* kOptions[] = {"single", "optional", "variadic"};
  json.begin_object();
  json.key("name").value(p.name).key("type").value(p.type);
  json.key("option").value(kOptions[static_cast<size_t>(p.option)]);
  if (p.option == Parameter::Option::kVariadic)
    json.key("homogeneous").value(p.homogeneous).key("min_arity").value(p.min_arity);
  json.end_object();
}

/// A number, a string, or a list of them.
struct DumpDefault {
  JsonWriter& json;

  void operator()(int64_t v) const { json.value(v); }
  void operator()(float v) const { json.value(static_cast<double>(v)); }
  void operator()(const std::string& v) const { json.value(v); }
  template <typename T>
  void operator()(const std::vector<T>& list) const {
    json.begin_array();
    for (const T& v : list) {
      if constexpr (requires { (*this)(v); })
        (*this)(v);
      else
        fail(ErrorCode::kInternal, "a schema's default of this kind cannot be printed");
    }
    json.end_array();
  }
  template <typename T>
  void operator()(const T&) const {
    fail(ErrorCode::kInternal, "a schema's default of this kind cannot be printed");
  }
};

void dump(JsonWriter& json, const AttributeDef& a) {
  json.begin_object();
  json.key("name").value(a.name).key("kind").value(a.kind).key("required").value(a.required);
  if (a.fallback) {
    json.key("default");
    std::visit(DumpDefault{json}, *a.fallback);
  }
  json.end_object();
}

void dump(JsonWriter& json, const TypeConstraint& c) {
  json.begin_object().key("name").value(c.name).key("types").begin_array();
  for (const std::string& t : c.types) json.value(t);
  json.end_array().end_object();
}

template <typename T>
void dump_list(JsonWriter& json, const char* key, const std::vector<T>& list) {
  json.key(key).begin_array();
  for (const T& item : list) dump(json, item);
  json.end_array();
}

void dump_all(JsonWriter& json) {
  json.begin_array();
  for (const OpDef* op : built_in_ops().all())
    for (const OpVersion& v : op->versions) {
      const Schema& s = schema_of(v);
      json.begin_object();
      json.key("domain").value(op->domain).key("name").value(op->name).key("since").value(v.since);
      dump_list(json, "inputs", s.inputs);
      dump_list(json, "outputs", s.outputs);
      dump_list(json, "attributes", s.attributes);
      dump_list(json, "constraints", s.constraints);
      json.end_object();
    }
  json.end_array();
}

}  // namespace
}  // namespace assay

int main() {
  assay::JsonWriter json([](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  assay::dump_all(json);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
