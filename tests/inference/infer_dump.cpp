// infer_dump: infers the types of the models whose paths come on standard input, one a line, and prints one
// JSON document a model: the error, or the types of all values, for inference_test.py.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/json_writer.h"
#include "graph/import.h"
#include "ops/infer.h"

namespace assay {
namespace {

void dump(JsonWriter& json, const Type& type) {
  constexpr const char* kKinds[] = {"unknown", "tensor", "sparse", "sequence", "optional", "map", "opaque"};
  json.begin_object().key("kind").value(kKinds[static_cast<size_t>(type.kind)]);
  if (type.dtype != DType::kUndefined) json.key("dtype").value(onnx_name(type.dtype));
  if (type.element) {
    json.key("element");
    dump(json, *type.element);
  }
  if (type.dims) {
    json.key("shape").begin_array();
    for (const Dim& d : *type.dims) {
      if (d.is_known())
        json.value(d.value());
      else if (d.is_symbol())
        json.value(d.symbol());
      else
        json.null();
    }
    json.end_array();
  }
  json.end_object();
}

/// Values that nodes produce, those of subgraphs under `<first output of the owner>.<attribute>/`.
void dump_values(JsonWriter& json, const Graph& g, const std::string& prefix) {
  for (const auto& n : g.nodes()) {
    const Value* first = nullptr;
    for (const Value* v : n->outputs()) {
      if (v == nullptr) continue;
      if (first == nullptr) first = v;
      json.key(prefix + v->name());
      dump(json, v->type);
    }
    for (const Attribute& a : n->attributes)
      if (const auto* sub = a.get_if<std::shared_ptr<Graph>>(); sub != nullptr && first != nullptr)
        dump_values(json, **sub, prefix + first->name() + "." + a.name + "/");
  }
}

void dump_model(JsonWriter& json, const std::string& path) {
  json.begin_object();
  try {
    const std::shared_ptr<Model> model = load_model(path, {.ignore_external_data = true});
    infer_shapes(*model);
    json.key("values").begin_object();
    dump_values(json, *model->graph, "");
    json.end_object();
  } catch (const Error& e) {
    json.key("error").value(e.what());
  }
  json.end_object();
}

}  // namespace
}  // namespace assay

int main() {
  const auto print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  char* line = nullptr;
  size_t size = 0;
  for (ssize_t n; (n = getline(&line, &size, stdin)) > 0;) {
    while (n > 0 && line[n - 1] == '\n') --n;
    assay::JsonWriter json(print);
    assay::dump_model(json, std::string(line, static_cast<size_t>(n)));
    std::fputc('\0', stdout);
    std::fflush(stdout);
  }
  std::free(line);
  return 0;
}
