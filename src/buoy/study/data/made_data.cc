#include "buoy/study/data/made_data.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/run/ask/prompt_tokens.h"

namespace buoy::study {
namespace {

std::vector<world::Haystack> haystacks_of(const StudyPlan& plan, const HaystackEntry& entry,
                                          world::HaystackRequest request) {
  const auto* model = plan.models_of({entry.model}).front();
  const auto folder = plan.model_folder(*model);
  if (!entry.filler.empty()) request.filler = read_file(plan.beside(entry.filler));
  const auto chat = run::settle(plan.chat_use(), plan.chat(), folder);
  return world::make_haystacks(request, run::prompt_token_counter(folder, chat));
}

}  // namespace

std::string made_lines(const StudyPlan& plan, const DataEntry& entry) {
  std::string lines;
  if (entry.world) {
    for (const auto& item : world::make_questions(*entry.world))
      lines += dump_json(questions::item_json(item)) + '\n';
  } else if (entry.haystack) {
    for (const auto& haystack : haystacks_of(plan, *entry.haystack, entry.haystack->request))
      lines += world::haystack_line(haystack) + '\n';
  }
  return lines;
}

MadeSample made_sample(const StudyPlan& plan, const DataEntry& entry, std::size_t most) {
  MadeSample made;
  if (entry.world) {
    auto request = *entry.world;
    made.count = request.count;
    request.count = static_cast<std::uint32_t>(std::min<std::size_t>(made.count, most));
    made.sample = world::make_questions(request);
  } else if (entry.haystack) {
    auto request = entry.haystack->request;
    made.count = request.lengths.size() * request.depths.size() * request.per_cell;
    request.per_cell = 1;  // of all lengths: they take different time
    for (auto& haystack : haystacks_of(plan, *entry.haystack, request))
      made.sample.push_back(std::move(haystack.item));
    made.sample.resize(std::min(made.sample.size(), most));
  }
  for (const auto& item : made.sample) made.bytes += questions::item_json(item).dump().size() + 1;
  made.bytes = made.bytes / std::max<std::size_t>(made.sample.size(), 1) * made.count;
  return made;
}

}  // namespace buoy::study
