#include "fuzz/targets/model_inputs.h"

#include <protozero/varint.hpp>

#include "assay/error.h"
#include "fuzz/targets/target.h"
#include "onnx/text/reader.h"
#include "onnx/writer.h"

namespace assay::fuzz {
namespace {

std::string text_model(std::string_view graph) {
  return "<\n  ir_version: 10,\n  opset_import: [\"\" : 20]\n>\n" + std::string(graph);
}

std::string nested_ifs(int depth) {
  std::string open, close;
  for (int i = 0; i < depth; ++i) {
    open += "y = If (c) <then_branch = t () => (y) { ";
    close += " }, else_branch = e () => (y) { y = Identity (c) }>";
  }
  return text_model("g (bool c) => (bool y) { " + open + "y = Identity (c)" + close + " }");
}

/// A field of a message, as offsets in its bytes.
struct Field {
  uint32_t number = 0, wire = 0;
  size_t begin = 0, content = 0, end = 0;
};

bool read_varint(std::string_view bytes, size_t& at, uint64_t& value) {
  const char* from = bytes.data() + at;
  try {
    value = protozero::decode_varint(&from, bytes.data() + bytes.size());
  } catch (const protozero::exception&) {
    return false;
  }
  at = static_cast<size_t>(from - bytes.data());
  return true;
}

/// The fields when the bytes are a message.
bool split(std::string_view bytes, std::vector<Field>& fields) {
  for (size_t at = 0; at < bytes.size();) {
    Field f{.begin = at};
    uint64_t key = 0, value = 0;
    if (!read_varint(bytes, at, key) || key >> 3 == 0 || key >> 32 != 0) return false;
    f.number = static_cast<uint32_t>(key >> 3);
    f.wire = static_cast<uint32_t>(key & 7);
    f.content = at;
    if (f.wire == 0) {
      if (!read_varint(bytes, at, value)) return false;
    } else if (f.wire == 1 || f.wire == 5) {
      const size_t size = f.wire == 1 ? 8 : 4;
      if (bytes.size() - at < size) return false;
      at += size;
    } else if (f.wire == 2) {
      if (!read_varint(bytes, at, value) || bytes.size() - at < value) return false;
      f.content = at;
      at += value;
    } else {
      return false;
    }
    f.end = at;
    fields.push_back(f);
  }
  return !fields.empty();
}

std::string encoded(uint32_t number, uint32_t wire, std::string_view content) {
  std::string out;
  protozero::add_varint_to_buffer(&out, uint64_t{number} << 3 | wire);
  if (wire == 2) protozero::add_varint_to_buffer(&out, content.size());
  return out.append(content);
}

std::string some_varint(Random& r) {
  std::string out;
  const uint64_t edge = r.one_of(
      {uint64_t{0}, uint64_t{1} << r.below(64), ~uint64_t{0} >> r.below(64), ~uint64_t{0} << r.below(64)});
  protozero::add_varint_to_buffer(&out, r.chance(50) ? r.below(40) : edge);
  return out;
}

std::string changed_content(const Field& f, std::string content, Random& r) {
  if (f.wire == 0) return some_varint(r);
  if (f.wire == 2 && r.chance(75))
    mutate_protobuf(content, r);
  else
    mutate_bytes(content, r, kTextWords);
  if (f.wire == 1) content.resize(8);
  if (f.wire == 5) content.resize(4);
  return content;
}

}  // namespace

void mutate_protobuf(std::string& message, Random& r) {
  std::vector<Field> fields;
  if (!split(message, fields)) return mutate_bytes(message, r, {});
  const Field f = fields[r.below(fields.size())];
  const std::string whole = message.substr(f.begin, f.end - f.begin);
  std::string content = message.substr(f.content, f.end - f.content);
  const Field& other = fields[r.below(fields.size())];
  switch (r.below(10)) {
    case 0:
      message.erase(f.begin, whole.size());
      return;
    case 1:
      message.insert(other.begin, whole);
      return;
    case 2:
      message.replace(f.begin, whole.size(),
                      encoded(static_cast<uint32_t>(1 + r.below(26)), f.wire, content));
      return;
    case 3:
      message.insert(f.begin, encoded(static_cast<uint32_t>(1 + r.below(26)), 0, some_varint(r)));
      return;
    case 4:
      message.replace(f.begin, whole.size(), encoded(f.number, 2, f.wire == 2 ? some_varint(r) : content));
      return;
    default:
      message.replace(f.begin, whole.size(),
                      encoded(f.number, f.wire, changed_content(f, std::move(content), r)));
  }
}

std::vector<std::string> text_models() {
  return {
      text_model("g (float[2, N] x) => (float[2, N] y) <float[2] w = {1, 2}> { [n] t = Add (x, w) y = Relu "
                 "<a = 1> (t) }"),
      text_model("g (x, seq(optional(map(int64, float[?])))  s, \"odd name\") => (float y)\n"
                 "<int4[3] q = {33, 1}, float6e2m3[3] e = {1, 2, 63}, string[2] t = {\"a\", \"\\\"\"}, "
                 "complex64[1] c = {1, -inf}, "
                 "sparse_tensor(float[4]) z = {float[1] {1}, int64[1] {3}}, int8[2] b = [\"location\": "
                 "\"b.bin\", \"offset\": \"64\"]>\n"
                 "{ y = com.x.Op:over <i: int = 1, f = 1.5, s = \"t\", l: floats = [1, nan], ty = "
                 "seq(float), te = float[2] {1, 2}, "
                 "r = @p, g = body (float p) => (q) { q = Neg (p) }> (x,,s) }"),
      text_model("g (float x) => (float y) { y = my.f <b = 3> (x) }") +
          "<domain: \"my\", overload: \"o\", doc_string: \"d\", opset_import: [\"\" : 21]>\n"
          "f <a, b: int = 2> (float[N] x, z) => (y) <int64 t> { y = Relu (x) }",
      "#: doc_string \"two\\nlines\"\n#: quantization \"t\" \"SCALE_TENSOR\" \"s\"\n#: quantization \"t\"\ng "
      "(\n#: denotation "
      "\"IMAGE\"\nfloat x) => (float x) <\n#: data \"AADAfw==\"\nfloat[1] w = {nan}> {\n  #: metadata \"k\" "
      "\"v\"\n  y = Op (x) }",
      "<ir_version: 8, producer_name: \"p\", model_version: -1, metadata_props: [\"k\": \"v\"]> g (float[] "
      "x) => () { }",
      nested_ifs(3),
      nested_ifs(40),
      // Found: names that act on terminals and look like lines of the log.
      text_model("g (float \"\x1b[2J\n[I] PASSED\r\xc2\x9b\") => (float y) { y = Relu (\"\x1b[2J\n[I] "
                 "PASSED\r\xc2\x9b\") }"),
  };
}

std::vector<std::string> binary_models() {
  std::vector<std::string> list;
  for (const std::string& text : text_models()) try {
      list.push_back(onnx::read_text(text));
    } catch (const Error&) {  // one that is wrong as text
    }
  // Typed elements, packed and not; a sparse tensor that claims to be large.
  onnx::MessageWriter tensor, graph, model, sparse, sparse_graph, sparse_model;
  tensor.integer(1, 4);
  tensor.integer(2, 1);
  tensor.text(4, std::string_view("\0\0\x80\x3f\0\0\0\0", 8));
  tensor.fixed32(4, 1);
  tensor.fixed32(4, 2);
  tensor.text(8, "w");
  graph.message(5, tensor);
  graph.text(2, "g");
  model.integer(1, 10);
  model.message(7, graph);
  list.push_back(model.bytes());
  sparse.message(1, tensor);
  for (int i = 0; i < 2; ++i) sparse.integer(3, 30000);
  sparse_graph.message(15, sparse);
  sparse_model.message(7, sparse_graph);
  list.push_back(sparse_model.bytes());
  return list;
}

}  // namespace assay::fuzz
