// Tensors, containers of tensors, and types.
#include "base/resident_memory.h"
#include "onnx/message_reader.h"

namespace assay::onnx {

void MessageReader::pair(pbf_reader& r, StringPairs& list) {
  std::pair<std::string_view, std::string_view> p;
  each_field(text(r), [&](pbf_reader& f, uint32_t key) {
    if (key == bytes_field(1)) return p.first = text(f), true;
    if (key == bytes_field(2)) return p.second = text(f), true;
    return false;
  });
  list.push_back(p);
}

/// A repeated int64 field, packed or not.
void MessageReader::ints(pbf_reader& r, uint32_t key, uint32_t tag, std::vector<int64_t>& list) {
  if (key == varint_field(tag)) {
    list.push_back(r.get_int64());
    return;
  }
  for (const int64_t v : r.get_packed_int64()) list.push_back(v);
}

TensorMessage MessageReader::tensor(std::string_view bytes) {
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
        t.raw_data = text(r);
        passed_over(t.raw_data);
        return t.has_raw_data = true;
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

SparseTensorMessage MessageReader::sparse_tensor(std::string_view bytes) {
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

ContainerMessage MessageReader::sequence(std::string_view bytes) {
  ContainerMessage s;
  each_field(bytes, [&](pbf_reader& r, uint32_t key) {
    switch (key) {
      case varint_field(2):
        return s.elem_type = r.get_int32(), true;
      case bytes_field(3):
        return append(r, "tensor", s.tensors, &MessageReader::tensor), true;
      case bytes_field(4):
        return append(r, "sparse_tensor", s.sparse_tensors, &MessageReader::sparse_tensor), true;
      case bytes_field(5):
        return append(r, "sequence", s.sequences, &MessageReader::sequence), true;
      case bytes_field(6):
        return append(r, "map", s.maps, &MessageReader::map), true;
      case bytes_field(7):
        return append(r, "optional", s.optionals, &MessageReader::sequence), true;
      default:
        return false;
    }
  });
  return s;
}

ContainerMessage MessageReader::map(std::string_view bytes) {
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
        return append(r, "values", m.sequences, &MessageReader::sequence), true;
      default:
        return false;
    }
  });
  return m;
}

void MessageReader::tensor_type(std::string_view bytes, TypeMessage& type) {
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

TypeMessage MessageReader::type(std::string_view bytes) {
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

}  // namespace assay::onnx
