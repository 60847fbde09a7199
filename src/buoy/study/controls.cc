#include "buoy/study/controls.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "buoy/base/attempt.h"
#include "buoy/base/file/files.h"
#include "buoy/run/identity.h"
#include "buoy/study/study_plan.h"

namespace buoy::study {
namespace {

constexpr std::size_t kFewest = 10;

// What two models of one twin share; "" where the config cannot be read, which is said elsewhere.
std::string shared_by(const StudyPlan& plan, const ModelEntry& model) {
  std::string key;
  (void)attempt([&] {
    key = read_file(plan.model_folder(model) / "config.json") +
          run::describe_decoding(plan.decoding(model)).dump();
  });
  return key;
}

}  // namespace

std::vector<Twin> untrained_twins(const StudyPlan& plan) {
  const auto& controls = plan.study().controls;
  std::vector<Twin> out;
  if (controls.untrained == 0) return out;
  std::map<std::string, std::size_t> first;  // of the twins of a config
  for (const auto& model : plan.study().models) {
    const std::string key = shared_by(plan, model);
    if (key.empty()) continue;
    const auto [found, is_new] = first.try_emplace(key, out.size());
    for (std::uint32_t n = 0; n < controls.untrained; ++n) {
      if (is_new) {
        Twin twin{model, {}};
        twin.model.untrained_seed = controls.seed + n;
        twin.model.name = std::string(kUntrainedPrefix) + model.name;
        if (n > 0) twin.model.name += "-" + std::to_string(n + 1);
        out.push_back(std::move(twin));
      }
      out[found->second + n].of.push_back(model.name);
    }
  }
  return out;
}

std::vector<Twin> twins_of(const std::vector<Twin>& twins, const StudyPlan& plan, const TraceEntry& trace) {
  std::vector<Twin> out;
  for (const auto& twin : twins) {
    for (const auto* model : plan.models_of(trace.models)) {
      if (std::find(twin.of.begin(), twin.of.end(), model->name) == twin.of.end()) continue;
      out.push_back(twin);
      break;
    }
  }
  return out;
}

std::size_t control_questions(std::size_t questions) {
  return std::min(questions, std::max(kFewest, (questions + 3) / 4));
}

std::vector<questions::Item> control_items(const std::vector<questions::Item>& items) {
  const std::size_t count = control_questions(items.size());
  std::vector<questions::Item> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(items[i * items.size() / count]);
  return out;
}

}  // namespace buoy::study
