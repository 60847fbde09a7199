#include "buoy/study/overrides.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/base/file/files.h"
#include "buoy/base/nearest.h"
#include "buoy/checkpoint/hub_cache.h"

namespace buoy::study {
namespace {

ModelEntry& model_called(const std::string& name, Study& study) {
  std::vector<std::string> names;
  for (auto& model : study.models) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  const auto near = nearest(name, names);
  throw_usage_error({field_name("model"),
                     near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                                  : fmt::format("one of {}; {}?", fmt::join(names, ", "), near),
                     fmt::format("\"{}\", which no model of the study is called", name)});
}

}  // namespace

void apply(const Overrides& overrides, Study& study) {
  std::set<std::string> seen;
  for (const auto& word : overrides.models) {
    const auto equals = word.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == word.size())
      throw_usage_error({field_name("model"), "NAME=FOLDER or NAME=ID", '"' + word + '"'});
    const std::string name = word.substr(0, equals), folder = word.substr(equals + 1);
    if (!seen.insert(name).second)
      throw_usage_error({field_name("model"), "each model once", '"' + name + "\" twice"});
    auto& model = model_called(name, study);
    const bool id = is_model_id(folder) && !path_exists(folder);
    model.path = id ? std::filesystem::path(folder) : std::filesystem::absolute(folder).lexically_normal();
  }
  if (!overrides.limit) return;
  for (auto& trace : study.traces)
    trace.request.read.limit = std::min(trace.request.read.limit, *overrides.limit);
  for (auto& entry : study.evaluations)
    entry.request.read.limit = std::min(entry.request.read.limit, *overrides.limit);
}

}  // namespace buoy::study
