#include <protozero/pbf_reader.hpp>

#include "assay/error.h"
#include "onnx/messages.h"
#include "onnx/writer.h"

namespace assay::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// The limit of the protobuf libraries; deeper than this only a hostile file goes.
constexpr int kMaxDepth = 100;

constexpr uint32_t bytes_field(uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::length_delimited);
}
constexpr uint32_t varint_field(uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::varint); }
constexpr uint32_t fixed32_field(uint32_t tag) {
  return protozero::tag_and_type(tag, pbf_wire_type::fixed32);
}

std::string_view text(pbf_reader& r) {
  const protozero::data_view v = r.get_view();
  return {v.data(), v.size()};
}

/// An optional text; that it is there is noted in `extra` where its value does not tell.
std::string_view optional_text(pbf_reader& r, std::string& extra) {
  const std::string_view value = text(r);
  if (value.empty()) add_empty_field(r.tag(), extra);
  return value;
}

/// Reads messages and keeps the path of the field it is in, for errors.
class Reader {
 public:
  explicit Reader(std::string_view file) : begin_(file.data()) {}

  ModelMessage model(std::string_view bytes);
  TensorMessage tensor(std::string_view bytes);
  SparseTensorMessage sparse_tensor(std::string_view bytes);
  TypeMessage type(std::string_view bytes);
  ContainerMessage sequence(std::string_view bytes);
  ContainerMessage map(std::string_view bytes);

 private:
  /// Calls field(reader, tag and wire type) for every field. field() returns false for one it does not know,
  /// whose bytes are skipped, or appended to `extra`.
  template <typename Field>
  void each_field(std::string_view bytes, std::string* extra, Field field) {
    pbf_reader r(bytes.data(), bytes.size());
    try {
      for (const char* start = r.data().data(); r.next(); start = r.data().data()) {
        if (field(r, r.tag_and_type())) continue;
        r.skip();
        if (extra != nullptr) extra->append(start, r.data().data());
      }
    } catch (const protozero::exception& e) {
      fail(ErrorCode::kInvalidModel, "the bytes are damaged at offset {}{}: {}", r.data().data() - begin_,
           path_.empty() ? "" : ", in " + path_, reason(e));
    }
  }

  template <typename Field>
  void each_field(std::string_view bytes, Field field) {
    each_field(bytes, nullptr, field);
  }

  static std::string reason(const protozero::exception& e) {
    if (dynamic_cast<const protozero::end_of_buffer_exception*>(&e)) return "a length reaches beyond its end";
    if (dynamic_cast<const protozero::varint_too_long_exception*>(&e))
      return "a number is longer than 64 bits";
    if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception*>(&e)) return "an unknown wire type";
    if (dynamic_cast<const protozero::invalid_tag_exception*>(&e)) return "an invalid field number";
    return e.what();
  }

  /// Runs read(bytes of the submessage) with the field's name on the path.
  template <typename Read>
  void nested(pbf_reader& r, const char* field, Read read, int64_t index = -1) {
    const std::string_view bytes = text(r);
    const size_t length = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += field;
    if (index >= 0) path_ += '[' + std::to_string(index) + ']';
    require(++depth_ <= kMaxDepth, ErrorCode::kInvalidModel, "messages nest deeper than {} at {}", kMaxDepth,
            path_);
    read(bytes);
    --depth_;
    path_.resize(length);
  }
  template <typename T>
  void append(pbf_reader& r, const char* field, std::vector<T>& list, T (Reader::*read)(std::string_view)) {
    nested(
        r, field, [&](std::string_view bytes) { list.push_back((this->*read)(bytes)); },
        static_cast<int64_t>(list.size()));
  }

  void pair(pbf_reader& r, StringPairs& list);
  static void ints(pbf_reader& r, uint32_t key, uint32_t tag, std::vector<int64_t>& list);

  void tensor_type(std::string_view bytes, TypeMessage& type);
  ValueInfoMessage value_info(std::string_view bytes);
  AttributeMessage attribute(std::string_view bytes);
  NodeMessage node(std::string_view bytes);
  QuantizationMessage quantization(std::string_view bytes);
  GraphMessage graph(std::string_view bytes);
  OpsetMessage opset(std::string_view bytes);
  FunctionMessage function(std::string_view bytes);

  const char* begin_;
  std::string path_;
  int depth_ = 0;
  int graphs_ = 0;
};

void Reader::pair(pbf_reader& r, StringPairs& list) {
  std::pair<std::string_view, std::string_view> p;
  each_field(text(r), [&](pbf_reader& f, uint32_t key) {
    if (key == bytes_field(1)) return p.first = text(f), true;
    if (key == bytes_field(2)) return p.second = text(f), true;
    return false;
  });
  list.push_back(p);
}

/// A repeated int64 field, packed or not.
void Reader::ints(pbf_reader& r, uint32_t key, uint32_t tag, std::vector<int64_t>& list) {
  if (key == varint_field(tag)) {
    list.push_back(r.get_int64());
    return;
  }
  for (const int64_t v : r.get_packed_int64()) list.push_back(v);
}

TensorMessage Reader::tensor(std::string_view bytes) {
  TensorMessage t;
  t.bytes = bytes;
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case varint_field(1):
      case bytes_field(1):
        return ints(r, key, 1, t.dims), true;
      case varint_field(2):
        return t.data_type = r.get_int32(), true;
      case bytes_field(8):
        return t.name = text(r), true;
      case bytes_field(9):
        return t.raw_data = text(r), t.has_raw_data = true;
      case bytes_field(12):
        return t.doc_string = text(r), true;
      case bytes_field(13):
        return pair(r, t.external_data), true;
      case varint_field(14):
        return t.data_location = r.get_int32(), true;
      case bytes_field(16):
        return pair(r, t.metadata), true;
      default:
        return false;
    }
  });
  return t;
}

SparseTensorMessage Reader::sparse_tensor(std::string_view bytes) {
  SparseTensorMessage s;
  s.bytes = bytes;
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case bytes_field(1):
        return nested(r, "values", [&](std::string_view b) { s.values = tensor(b); }), true;
      case bytes_field(2):
        return nested(r, "indices", [&](std::string_view b) { s.indices = tensor(b); }), true;
      case varint_field(3):
      case bytes_field(3):
        return ints(r, key, 3, s.dims), true;
      default:
        return false;
    }
  });
  return s;
}

ContainerMessage Reader::sequence(std::string_view bytes) {
  ContainerMessage s;
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case varint_field(2):
        return s.elem_type = r.get_int32(), true;
      case bytes_field(3):
        return append(r, "tensor", s.tensors, &Reader::tensor), true;
      case bytes_field(4):
        return append(r, "sparse_tensor", s.sparse_tensors, &Reader::sparse_tensor), true;
      case bytes_field(5):
        return append(r, "sequence", s.sequences, &Reader::sequence), true;
      case bytes_field(6):
        return append(r, "map", s.maps, &Reader::map), true;
      case bytes_field(7):
        return append(r, "optional", s.optionals, &Reader::sequence), true;
      default:
        return false;
    }
  });
  return s;
}

ContainerMessage Reader::map(std::string_view bytes) {
  ContainerMessage m;
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case varint_field(2):
        return m.key_type = r.get_int32(), true;
      case varint_field(3):
      case bytes_field(3):
        return ints(r, key, 3, m.keys), true;
      case bytes_field(4):
        return m.string_keys.push_back(text(r)), true;
      case bytes_field(5):
        return append(r, "values", m.sequences, &Reader::sequence), true;
      default:
        return false;
    }
  });
  return m;
}

void Reader::tensor_type(std::string_view bytes, TypeMessage& type) {
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    if (key == varint_field(1)) return type.elem_type = r.get_int32(), true;
    if (key != bytes_field(2)) return false;
    type.has_shape = true;
    each_field(text(r), [&](pbf_reader& shape, uint32_t shape_key) {
      if (shape_key != bytes_field(1)) return false;
      DimMessage d;
      each_field(text(shape), [&](pbf_reader& dim, uint32_t dim_key) {
        if (dim_key == varint_field(1)) return d.value = dim.get_int64(), d.has_value = true;
        if (dim_key == bytes_field(2)) return d.param = text(dim), true;
        return false;
      });
      type.dims.push_back(d);
      return true;
    });
    return true;
  });
}

TypeMessage Reader::type(std::string_view bytes) {
  TypeMessage t;
  t.bytes = bytes;
  const auto element = [&](pbf_reader& r, uint32_t tag) {
    nested(r, "elem_type", [&](std::string_view b) { t.element.assign(1, type(b)); });
    (void)tag;
  };
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    if (key == bytes_field(6)) return t.denotation = text(r), true;
    const uint32_t tag = key >> 3;
    if ((key & 7U) != static_cast<uint32_t>(pbf_wire_type::length_delimited)) return false;
    switch (tag) {
      case 1:
      case 8:
        t.kind = static_cast<int>(tag);
        return nested(r, "tensor_type", [&](std::string_view b) { tensor_type(b, t); }), true;
      case 4:
      case 9:
        t.kind = static_cast<int>(tag);
        each_field(text(r),
                   [&](pbf_reader& f, uint32_t k) { return k == bytes_field(1) && (element(f, tag), true); });
        return true;
      case 5:
        t.kind = 5;
        each_field(text(r), [&](pbf_reader& f, uint32_t k) {
          if (k == varint_field(1)) return t.elem_type = f.get_int32(), true;
          return k == bytes_field(2) && (element(f, tag), true);
        });
        return true;
      case 7:
        t.kind = 7;
        return false;
      default:
        return false;
    }
  });
  return t;
}

ValueInfoMessage Reader::value_info(std::string_view bytes) {
  ValueInfoMessage v;
  v.bytes = bytes;
  each_field(bytes, &v.extra, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case bytes_field(1):
        return v.name = text(r), true;
      case bytes_field(2):
        v.has_type = true;
        return nested(r, "type", [&](std::string_view b) { v.type = type(b); }), true;
      case bytes_field(3):
        return v.doc_string = optional_text(r, v.extra), true;
      case bytes_field(4):
        return pair(r, v.metadata), true;
      default:
        return false;
    }
  });
  return v;
}

AttributeMessage Reader::attribute(std::string_view bytes) {
  AttributeMessage a;
  each_field(bytes, &a.extra, [&](pbf_reader& r, uint32_t key) {
    if (key >> 3 < 32) a.fields |= 1U << (key >> 3);
    switch (key) {
      case bytes_field(1):
        return a.name = text(r), true;
      case fixed32_field(2):
        return a.f = r.get_float(), true;
      case varint_field(3):
        return a.i = r.get_int64(), true;
      case bytes_field(4):
        return a.s = text(r), true;
      case bytes_field(5):
        return append(r, "t", a.tensors, &Reader::tensor), true;
      case bytes_field(6):
        return append(r, "g", a.graphs, &Reader::graph), true;
      case fixed32_field(7):
        return a.floats.push_back(r.get_float()), true;
      case bytes_field(7):
        for (const float f : r.get_packed_float()) a.floats.push_back(f);
        return true;
      case varint_field(8):
      case bytes_field(8):
        return ints(r, key, 8, a.ints), true;
      case bytes_field(9):
        return a.strings.push_back(text(r)), true;
      case bytes_field(10):
        return append(r, "tensors", a.tensors, &Reader::tensor), true;
      case bytes_field(11):
        return append(r, "graphs", a.graphs, &Reader::graph), true;
      case bytes_field(13):
        return a.doc_string = optional_text(r, a.extra), true;
      case bytes_field(14):
        return append(r, "tp", a.types, &Reader::type), true;
      case bytes_field(15):
        return append(r, "type_protos", a.types, &Reader::type), true;
      case varint_field(20):
        return a.type = r.get_int32(), true;
      case bytes_field(21):
        return a.ref_attr_name = optional_text(r, a.extra), true;
      case bytes_field(22):
        return append(r, "sparse_tensor", a.sparse_tensors, &Reader::sparse_tensor), true;
      case bytes_field(23):
        return append(r, "sparse_tensors", a.sparse_tensors, &Reader::sparse_tensor), true;
      default:
        return false;
    }
  });
  return a;
}

NodeMessage Reader::node(std::string_view bytes) {
  NodeMessage n;
  each_field(bytes, &n.extra, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case bytes_field(1):
        return n.inputs.push_back(text(r)), true;
      case bytes_field(2):
        return n.outputs.push_back(text(r)), true;
      case bytes_field(3):
        return n.name = optional_text(r, n.extra), true;
      case bytes_field(4):
        return n.op_type = text(r), true;
      case bytes_field(5):
        return append(r, "attribute", n.attributes, &Reader::attribute), true;
      case bytes_field(6):
        return n.doc_string = optional_text(r, n.extra), true;
      case bytes_field(7):
        return n.domain = optional_text(r, n.extra), true;
      case bytes_field(8):
        return n.overload = optional_text(r, n.extra), true;
      case bytes_field(9):
        return pair(r, n.metadata), true;
      default:
        return false;
    }
  });
  return n;
}

QuantizationMessage Reader::quantization(std::string_view bytes) {
  QuantizationMessage q;
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    if (key == bytes_field(1)) return q.tensor_name = text(r), true;
    if (key == bytes_field(2)) return pair(r, q.parameters), true;
    return false;
  });
  return q;
}

GraphMessage Reader::graph(std::string_view bytes) {
  require(graphs_ <= kMaxGraphDepth, ErrorCode::kInvalidModel, "subgraphs nest deeper than {}",
          kMaxGraphDepth);
  ++graphs_;
  GraphMessage g;
  each_field(bytes, &g.extra, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case bytes_field(1):
        return append(r, "node", g.nodes, &Reader::node), true;
      case bytes_field(2):
        return g.name = optional_text(r, g.extra), true;
      case bytes_field(5):
        return append(r, "initializer", g.initializers, &Reader::tensor), true;
      case bytes_field(10):
        return g.doc_string = optional_text(r, g.extra), true;
      case bytes_field(11):
        return append(r, "input", g.inputs, &Reader::value_info), true;
      case bytes_field(12):
        return append(r, "output", g.outputs, &Reader::value_info), true;
      case bytes_field(13):
        return append(r, "value_info", g.value_infos, &Reader::value_info), true;
      case bytes_field(14):
        return append(r, "quantization_annotation", g.quantization_annotations, &Reader::quantization), true;
      case bytes_field(15):
        return append(r, "sparse_initializer", g.sparse_initializers, &Reader::sparse_tensor), true;
      case bytes_field(16):
        return pair(r, g.metadata), true;
      default:
        return false;
    }
  });
  --graphs_;
  return g;
}

OpsetMessage Reader::opset(std::string_view bytes) {
  OpsetMessage o;
  each_field(bytes, &o.extra, [&](pbf_reader& r, uint32_t key) {
    if (key == bytes_field(1)) return o.domain = optional_text(r, o.extra), true;
    if (key == varint_field(2)) return o.version = r.get_int64(), true;
    return false;
  });
  return o;
}

FunctionMessage Reader::function(std::string_view bytes) {
  FunctionMessage f;
  each_field(bytes, &f.extra, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case bytes_field(1):
        return f.name = text(r), true;
      case bytes_field(4):
        return f.inputs.push_back(text(r)), true;
      case bytes_field(5):
        return f.outputs.push_back(text(r)), true;
      case bytes_field(6):
        return f.attribute_names.push_back(text(r)), true;
      case bytes_field(7):
        return append(r, "node", f.nodes, &Reader::node), true;
      case bytes_field(8):
        return f.doc_string = optional_text(r, f.extra), true;
      case bytes_field(9):
        return append(r, "opset_import", f.opsets, &Reader::opset), true;
      case bytes_field(10):
        return f.domain = optional_text(r, f.extra), true;
      case bytes_field(11):
        return append(r, "attribute_proto", f.attribute_defaults, &Reader::attribute), true;
      case bytes_field(12):
        return append(r, "value_info", f.value_infos, &Reader::value_info), true;
      case bytes_field(13):
        return f.overload = optional_text(r, f.extra), true;
      case bytes_field(14):
        return pair(r, f.metadata), true;
      default:
        return false;
    }
  });
  return f;
}

ModelMessage Reader::model(std::string_view bytes) {
  ModelMessage m;
  each_field(bytes, &m.extra, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case varint_field(1):
        return m.ir_version = r.get_int64(), true;
      case bytes_field(2):
        return m.producer_name = optional_text(r, m.extra), true;
      case bytes_field(3):
        return m.producer_version = optional_text(r, m.extra), true;
      case bytes_field(4):
        return m.domain = optional_text(r, m.extra), true;
      case varint_field(5):
        m.model_version = r.get_int64();
        if (m.model_version == 0) add_zero_field(5, m.extra);
        return true;
      case bytes_field(6):
        return m.doc_string = optional_text(r, m.extra), true;
      case bytes_field(7):
        return nested(r, "graph", [&](std::string_view b) { m.graph = graph(b); }), m.has_graph = true;
      case bytes_field(8):
        return append(r, "opset_import", m.opsets, &Reader::opset), true;
      case bytes_field(14):
        return pair(r, m.metadata), true;
      case bytes_field(25):
        return append(r, "functions", m.functions, &Reader::function), true;
      default:
        return false;
    }
  });
  return m;
}

}  // namespace

ModelMessage read_model(std::string_view bytes) { return Reader(bytes).model(bytes); }
TensorMessage read_tensor(std::string_view bytes) { return Reader(bytes).tensor(bytes); }
SparseTensorMessage read_sparse_tensor(std::string_view bytes) { return Reader(bytes).sparse_tensor(bytes); }
TypeMessage read_type(std::string_view bytes) { return Reader(bytes).type(bytes); }
ContainerMessage read_sequence(std::string_view bytes) { return Reader(bytes).sequence(bytes); }
ContainerMessage read_map(std::string_view bytes) { return Reader(bytes).map(bytes); }

}  // namespace assay::onnx
