#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "bindings.h"
#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/world/world_request.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

template <typename Value>
void read(const Json& json, const char* key, Value& value) {
  const auto found = json.find(key);
  if (found == json.end()) return;
  if constexpr (std::is_same_v<Value, std::string>) {
    if (!found->is_string()) throw_usage_error({field_name(key), "a text", found->dump()});
    value = found->get<std::string>();
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (!found->is_boolean()) throw_usage_error({field_name(key), "True or False", found->dump()});
    value = found->get<bool>();
  } else {
    constexpr auto kMost = std::numeric_limits<Value>::max();
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > kMost)
      throw_usage_error({field_name(key), fmt::format("a whole number from 0 to {}", kMost), found->dump()});
    value = found->get<Value>();
  }
}

// `buoy world`: the questions that a JSON object asks for, a line each.
void world_questions(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text);
  world::WorldRequest request;
  const auto each = [&](const auto& take) {
    take("version", request.version);
    take("people", request.people);
    take("count", request.count);
    take("passages", request.passages);
    take("seed", request.seed);
    take("gold_position", request.gold_position);
    take("noise_kind", request.noise_kind);
    take("two_hop", request.two_hop);
    take("task", request.task);
    take("label_style", request.label_style);
    take("wording", request.wording);
  };
  std::string known;
  each([&](const char* key, auto&) { known += (known.empty() ? "" : ", ") + std::string(key); });
  for (const auto& [key, value] : json.items()) {
    bool is_known = false;
    each([&](const char* name, auto&) { is_known |= key == name; });
    if (!is_known) throw_usage_error({field_name(key), "one of " + known, "another name"});
  }
  each([&](const char* key, auto& value) { read(json, key, value); });
  if (request.version < 1 || request.version > 2)
    throw_usage_error({field_name("version"), "1 or 2", std::to_string(request.version)});
  if (request.count < 1) throw_usage_error({field_name("count"), "at least 1", "0"});
  std::string lines;
  for (const auto& item : world::make_questions(request))
    lines += dump_json(questions::item_json(item)) + '\n';
  write_file_atomically(file, lines);
}

}  // namespace

void bind_world(py::module_& module) {
  module.def("world_questions", &world_questions, py::call_guard<py::gil_scoped_release>());
}

}  // namespace buoy::python
