// Models, graphs, nodes and attributes.
#include "onnx/message_reader.h"

namespace assay::onnx {

ValueInfoMessage MessageReader::value_info(std::string_view bytes) {
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

bool MessageReader::attribute_value(pbf_reader& r, uint32_t key, AttributeMessage& a) {
  switch (key) {
    case fixed32_field(2):
      return a.f = r.get_float(), true;
    case varint_field(3):
      return a.i = r.get_int64(), true;
    case bytes_field(4):
      return a.s = text(r), true;
    case bytes_field(5):
      return append(r, "t", a.tensors, &MessageReader::tensor), true;
    case bytes_field(6):
      return append(r, "g", a.graphs, &MessageReader::graph), true;
    case bytes_field(14):
      return append(r, "tp", a.types, &MessageReader::type), true;
    case bytes_field(22):
      return append(r, "sparse_tensor", a.sparse_tensors, &MessageReader::sparse_tensor), true;
    default:
      return false;
  }
}

bool MessageReader::attribute_list(pbf_reader& r, uint32_t key, AttributeMessage& a) {
  switch (key) {
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
      return append(r, "tensors", a.tensors, &MessageReader::tensor), true;
    case bytes_field(11):
      return append(r, "graphs", a.graphs, &MessageReader::graph), true;
    case bytes_field(15):
      return append(r, "type_protos", a.types, &MessageReader::type), true;
    case bytes_field(23):
      return append(r, "sparse_tensors", a.sparse_tensors, &MessageReader::sparse_tensor), true;
    default:
      return false;
  }
}

AttributeMessage MessageReader::attribute(std::string_view bytes) {
  AttributeMessage a;
  each_field(bytes, &a.extra, [&](pbf_reader& r, uint32_t key) {
    if (key >> 3 < 32) a.fields |= 1U << (key >> 3);
    switch (key) {
      case bytes_field(1):
        return a.name = text(r), true;
      case bytes_field(13):
        return a.doc_string = optional_text(r, a.extra), true;
      case varint_field(20):
        return a.type = r.get_int32(), true;
      case bytes_field(21):
        return a.ref_attr_name = optional_text(r, a.extra), true;
      default:
        return attribute_value(r, key, a) || attribute_list(r, key, a);
    }
  });
  return a;
}

NodeMessage MessageReader::node(std::string_view bytes) {
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
        return append(r, "attribute", n.attributes, &MessageReader::attribute), true;
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

QuantizationMessage MessageReader::quantization(std::string_view bytes) {
  QuantizationMessage q;
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    if (key == bytes_field(1)) return q.tensor_name = text(r), true;
    if (key == bytes_field(2)) return pair(r, q.parameters), true;
    return false;
  });
  return q;
}

GraphMessage MessageReader::graph(std::string_view bytes) {
  require(graphs_ <= kMaxGraphDepth, ErrorCode::kInvalidModel, "subgraphs nest deeper than {}",
          kMaxGraphDepth);
  ++graphs_;
  GraphMessage g;
  each_field(bytes, &g.extra, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case bytes_field(1):
        return append(r, "node", g.nodes, &MessageReader::node), true;
      case bytes_field(2):
        return g.name = optional_text(r, g.extra), true;
      case bytes_field(5):
        return append(r, "initializer", g.initializers, &MessageReader::tensor), true;
      case bytes_field(10):
        return g.doc_string = optional_text(r, g.extra), true;
      case bytes_field(11):
        return append(r, "input", g.inputs, &MessageReader::value_info), true;
      case bytes_field(12):
        return append(r, "output", g.outputs, &MessageReader::value_info), true;
      case bytes_field(13):
        return append(r, "value_info", g.value_infos, &MessageReader::value_info), true;
      case bytes_field(14):
        return append(r, "quantization_annotation", g.quantization_annotations, &MessageReader::quantization),
               true;
      case bytes_field(15):
        return append(r, "sparse_initializer", g.sparse_initializers, &MessageReader::sparse_tensor), true;
      case bytes_field(16):
        return pair(r, g.metadata), true;
      default:
        return false;
    }
  });
  --graphs_;
  return g;
}

OpsetMessage MessageReader::opset(std::string_view bytes) {
  OpsetMessage o;
  each_field(bytes, &o.extra, [&](pbf_reader& r, uint32_t key) {
    if (key == bytes_field(1)) return o.domain = optional_text(r, o.extra), true;
    if (key == varint_field(2)) return o.version = r.get_int64(), true;
    return false;
  });
  return o;
}

FunctionMessage MessageReader::function(std::string_view bytes) {
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
        return append(r, "node", f.nodes, &MessageReader::node), true;
      case bytes_field(8):
        return f.doc_string = optional_text(r, f.extra), true;
      case bytes_field(9):
        return append(r, "opset_import", f.opsets, &MessageReader::opset), true;
      case bytes_field(10):
        return f.domain = optional_text(r, f.extra), true;
      case bytes_field(11):
        return append(r, "attribute_proto", f.attribute_defaults, &MessageReader::attribute), true;
      case bytes_field(12):
        return append(r, "value_info", f.value_infos, &MessageReader::value_info), true;
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

ModelMessage MessageReader::model(std::string_view bytes) {
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
        return append(r, "opset_import", m.opsets, &MessageReader::opset), true;
      case bytes_field(14):
        return pair(r, m.metadata), true;
      case bytes_field(25):
        return append(r, "functions", m.functions, &MessageReader::function), true;
      default:
        return false;
    }
  });
  return m;
}

ModelMessage read_model(std::string_view bytes) { return MessageReader(bytes).model(bytes); }
TensorMessage read_tensor(std::string_view bytes) { return MessageReader(bytes).tensor(bytes); }
SparseTensorMessage read_sparse_tensor(std::string_view bytes) {
  return MessageReader(bytes).sparse_tensor(bytes);
}
TypeMessage read_type(std::string_view bytes) { return MessageReader(bytes).type(bytes); }
ContainerMessage read_sequence(std::string_view bytes) { return MessageReader(bytes).sequence(bytes); }
ContainerMessage read_map(std::string_view bytes) { return MessageReader(bytes).map(bytes); }

}  // namespace assay::onnx
