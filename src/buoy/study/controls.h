#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/study/study.h"

namespace buoy::study {

class StudyPlan;

// A network that was never trained, beside the models of a study that have its config and decode alike.
struct Twin {
  ModelEntry model;             // with its seed
  std::vector<std::string> of;  // names of the models
};
inline constexpr std::string_view kUntrainedPrefix = "untrained-";  // of their names

// Those of all models whose config.json is there, one for each distinct config and seed.
std::vector<Twin> untrained_twins(const StudyPlan& plan);
// Those that run beside a trace.
std::vector<Twin> twins_of(const std::vector<Twin>& twins, const StudyPlan& plan, const TraceEntry& trace);

// A control answers a quarter of the questions, at least 10 of them where there are so many.
std::size_t control_questions(std::size_t questions);
// So many, evenly spread: files may be sorted.
std::vector<questions::Item> control_items(const std::vector<questions::Item>& items);

}  // namespace buoy::study
