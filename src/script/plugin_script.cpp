#include "script/plugin_script.h"

#include <fmt/format.h>
#include <unistd.h>

#include "assay/io.h"
#include "base/nameless_file.h"
#include "script/temporary_model.h"

namespace assay::script {
namespace {

std::vector<std::string> texts(const Item& list) {
  std::vector<std::string> out;
  for (const Item& item : list.list()) out.push_back(item.text());
  return out;
}

Item list_of(const std::vector<std::string>& names) {
  Item::List list;
  for (const std::string& name : names) list.emplace_back(name);
  return list;
}

}  // namespace

PluginScript::PluginScript(const std::string& path, std::string interpreter)
    : function_("plugin", Reference{.path = path, .function = "get_matching_subgraphs"},
                std::move(interpreter)) {}

ScriptPluginMatches PluginScript::match(const Model& model) {
  const TemporaryModel given(model);
  const Item answer = function_.call("match", {{"model", given.path()}});
  ScriptPluginMatches matches{.name = answer.at("name").text(),
                              .op = answer.at("op").text(),
                              .domain = answer.at("domain").text(),
                              .instances = {}};
  for (const Item& i : answer.at("instances").list())
    matches.instances.push_back({.inputs = texts(i.at("inputs")),
                                 .outputs = texts(i.at("outputs")),
                                 .attributes = i.at("attributes")});
  return matches;
}

bool PluginScript::has_replacement() { return function_.call("has_replacement", {}).truth(); }

PluginScript::Replaced PluginScript::replace(const Model& model, const std::string& op,
                                             const std::vector<ScriptPluginInstance>& instances,
                                             std::shared_ptr<const OpSet> ops) {
  const TemporaryModel given(model);
  const NamelessFile file;
  const std::string output = fmt::format("/proc/{}/fd/{}", ::getpid(), file.fd());
  Item::List list;
  for (const ScriptPluginInstance& i : instances)
    list.emplace_back(Item::Dict{
        {"inputs", list_of(i.inputs)}, {"outputs", list_of(i.outputs)}, {"attributes", i.attributes}});
  const Item count = function_.call(
      "replace", {{"model", given.path()}, {"output", output}, {"op", op}, {"instances", std::move(list)}});
  Replaced replaced{.model = with_context([&] { return "in what " + function_.reference().path + " made"; },
                                          [&] {
                                            return load_model(output, {.keep_node_order = true,
                                                                       .allow_weightless = true,
                                                                       .ops = std::move(ops)});
                                          }),
                    .count = count.integer()};
  replaced.model->path.clear();
  return replaced;
}

}  // namespace assay::script
