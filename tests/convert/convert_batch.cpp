// Converts models by the line: reads `PATH<tab>DOMAIN<tab>VERSION<tab>OUTPUT` from stdin and answers each
// line with one JSON object, ended by a zero byte: {"error": text}, or {"problems": [{"text", "nearest"}...],
// "notes": [...]}; without problems the result is in OUTPUT. With the argument --steps it prints the lines of
// steps.def instead: `DOMAIN OPERATOR VERSION ADAPTER`, and of expansions.def: `DOMAIN OPERATOR expansion
// OPSET`.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "convert/convert_opset.h"
#include "convert/steps.h"
#include "graph/export.h"
#include "graph/import.h"

namespace assay {
namespace {

std::vector<std::string> fields(std::string_view line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == '\t')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

void answer(JsonWriter& json, const std::vector<std::string>& f) {
  json.begin_object();
  try {
    const std::shared_ptr<Model> model = load_model(f.at(0));
    const ConvertOptions options = {.domain = f.at(1), .version = std::stoll(f.at(2))};
    const ConvertReport report = convert_opset(*model, options);
    json.key("problems").begin_array();
    for (const ConvertProblem& p : report.problems) {
      json.begin_object();
      json.key("text").value(p.str(options.version));
      json.key("nearest").value(p.nearest);
      json.end_object();
    }
    json.end_array();
    json.key("notes").begin_array();
    for (const std::string& note : report.notes) json.value(note);
    json.end_array();
    if (report.problems.empty()) save_model(*model, f.at(3));
  } catch (const std::exception& e) {
    json.key("error").value(std::string_view(e.what()));
  }
  json.end_object();
}

void print_steps() {
  const auto name = [](std::string_view domain) {
    return domain.empty() ? std::string_view("ai.onnx") : domain;
  };
  for (const OpSteps& op : all_steps())
    for (const Step& s : op.steps)
      fmt::print("{} {} {} {}\n", name(op.domain), op.name, s.since,
                 s.adapter != nullptr ? s.adapter->name : "same");
  for (const Expansion* e : all_expansions())
    fmt::print("{} {} expansion {}\n", name(e->domain), e->name, e->opset);
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--steps") {
    assay::print_steps();
    return 0;
  }
  const auto print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  char* line = nullptr;
  size_t size = 0;
  for (ssize_t n; (n = getline(&line, &size, stdin)) > 0;) {
    while (n > 0 && line[n - 1] == '\n') --n;
    assay::JsonWriter json(print);
    assay::answer(json, assay::fields(std::string_view(line, static_cast<size_t>(n))));
    std::fputc('\0', stdout);
    std::fflush(stdout);
  }
  std::free(line);
  return 0;
}
