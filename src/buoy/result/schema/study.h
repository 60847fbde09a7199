#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kStudy{Source::kTerminal, "study", "What a study will do", "", ""};

struct StudyParts : TableSchema {
  constexpr StudyParts() : TableSchema({kStudy, "study_parts", "What a study asks and writes"}) {}
  Axis part{*this, {"part", "text", "a part of the study; in all"}};
  Value questions{*this, {"questions", "questions", "to be asked"}};
  Value forward_passes{*this, {"forward_passes", "passes", "of the models"}};
  Value work_percent{
      *this,
      {"work_percent", "percent",
       "expected share of the arithmetic of all passes: tokens that go through a model times its "
       "weights; what is observed and the report come on top"}};
  Value on_disk{*this, {"on_disk", "bytes", "what it writes, about"}};
  Value keep{*this, {"keep", "name", "what a trace keeps: tables, compact or full"}};
  Value as_tables{*this, {"as_tables", "bytes", "what a trace would write if it kept tables"}};
  Value as_compact{*this, {"as_compact", "bytes", "likewise, compact"}};
  Value as_full{*this, {"as_full", "bytes", "likewise, full"}};
};
inline constexpr StudyParts study_parts;

}  // namespace buoy::schema
