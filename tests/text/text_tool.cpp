// Does what text_test.py asks for, a line each on stdin, answered by a line on stdout: `ok`, or `error: ` and
// why.
//   print MODEL TEXT       writes a model's text form
//   binary TEXT MODEL      writes a text's model as a binary file
//   message FILE MODEL     writes what a file in protobuf's text or JSON form says as a binary file
//   round-trip MODEL       model -> text -> model gives the same bytes
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "assay/edit.h"
#include "assay/error.h"
#include "base/mapped_file.h"
#include "graph/export.h"
#include "graph/import.h"
#include "graph/to_text.h"
#include "onnx/forms/form.h"

namespace {

using namespace assay;

void write_file(const std::string& path, const std::string& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  require(file != nullptr, ErrorCode::kIo, "cannot write {}", path);
  const bool is_written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  require(std::fclose(file) == 0 && is_written, ErrorCode::kIo, "cannot write {}", path);
}

/// Forgets the file's form: what the IR keeps in addition to its meaning (encodings, empty texts, orders,
/// fields that it does not know) has no place in the text form.
void forget_form(Graph& g) {
  g.extra_fields.clear();
  g.input_order.clear();
  g.value_info_order.clear();
  for (const auto& v : g.values()) {
    v->extra_fields.clear();
    v->set_tensor_source(nullptr);
    v->type.source = nullptr;
  }
  for (const auto& n : g.nodes()) {
    n->extra_fields.clear();
    for (Attribute& a : n->attributes) {
      a.extra_fields.clear();
      a.tensor_sources = nullptr;
    }
  }
  for (Graph* sub : subgraphs(g)) forget_form(*sub);
}

std::shared_ptr<Model> without_form(std::shared_ptr<Model> model) {
  model->extra_fields.clear();
  for (OpsetImport& o : model->opsets) o.extra_fields.clear();
  forget_form(*model->graph);
  for (Function& f : model->functions) {
    f.extra_fields.clear();
    for (OpsetImport& o : f.opsets) o.extra_fields.clear();
    for (Attribute& a : f.attribute_defaults) {
      a.extra_fields.clear();
      a.tensor_sources = nullptr;
    }
    forget_form(*f.body);
  }
  return model;
}

void round_trip(const std::string& path) {
  const auto model = without_form(load_model(path));
  const std::string text = to_text(*model);
  const auto back = without_form(parse_text(text, "the text of " + path));
  require(serialize_model(*back) == serialize_model(*model), ErrorCode::kInternal, "another model came back");
  require(to_text(*back) == text, ErrorCode::kInternal, "the same model has two texts");
}

void write_message(const std::string& from, const std::string& to) {
  const auto file = MappedFile::open(from);
  write_file(to, onnx::read_form(onnx::form_of(from, file->bytes()), file->bytes()));
}

void answer(const std::string& command, const std::string& from, const std::string& to) {
  if (command == "print")
    write_file(to, to_text(*without_form(load_model(from))));
  else if (command == "binary")
    write_file(to, serialize_model(*without_form(load_model(from))));
  else if (command == "message")
    write_message(from, to);
  else if (command == "round-trip")
    round_trip(from);
  else
    fail(ErrorCode::kInvalidArgument, "the command '{}' is unknown", command);
}

/// The words of a line, which tabs part.
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c == '\t')
      words.emplace_back();
    else if (c != '\n')
      words.back() += c;
  }
  words.resize(3);
  return words;
}

}  // namespace

int main() {
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) > 0) {
    const std::vector<std::string> words = split(line);
    std::string result = "ok";
    try {
      answer(words[0], words[1], words[2]);
    } catch (const std::exception& e) {
      result = std::string("error: ") + e.what();
      for (char& c : result)
        if (c == '\n') c = ' ';
    }
    std::puts(result.c_str());
    std::fflush(stdout);
  }
  std::free(line);
}
