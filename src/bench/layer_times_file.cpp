#include "bench/layer_times_file.h"

#include <optional>

#include "assay/error.h"
#include "base/json_reader.h"
#include "base/mapped_file.h"

namespace assay::bench {
namespace {

struct Entry {
  std::string name;
  std::optional<double> milliseconds;
};

Entry read_entry(JsonReader& json) {
  Entry entry;
  for (json.next(); json.peek() == JsonEvent::kKey;) {
    json.next();
    const std::string key(json.string());
    if (key == "name" && json.peek() == JsonEvent::kString) {
      json.next();
      entry.name = json.string();
    } else if (key == "averageMs" && json.peek() == JsonEvent::kNumber) {
      json.next();
      entry.milliseconds = json.as_double();
    } else {
      json.skip_value();
    }
  }
  json.next();
  return entry;
}

}  // namespace

std::map<std::string, double> load_layer_times(const std::string& path) {
  const auto file = MappedFile::open(path);
  JsonReader json(file->bytes(), path);
  std::map<std::string, double> times;
  if (json.next() == JsonEvent::kBeginArray)
    while (json.peek() == JsonEvent::kBeginObject) {
      const Entry entry = read_entry(json);
      if (entry.milliseconds) times[entry.name] += *entry.milliseconds;
    }
  require(!times.empty(), ErrorCode::kInvalidArgument,
          "{} is no profile of layers: it is no list of objects with \"name\" and \"averageMs\"", path);
  return times;
}

}  // namespace assay::bench
