#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kPublished{Source::kStudy, "published", "Beside published numbers", "", ""};

struct PublishedValues : TableSchema {
  constexpr PublishedValues()
      : TableSchema({kPublished, "published_values", "What others measured, and what this study did"}) {}
  Axis paper{*this, {"paper", "text", "who published it"}};
  Axis quantity{*this, {"quantity", "text", "what was measured"}};
  Axis condition{*this, {"condition", "text", "under which condition"}};
  Axis network{*this, {"network", "text", "the published network"}};
  Value unit{*this, {"unit", "text", "of both numbers"}};
  Value published{*this, {"published", "as the unit", "the published value, a number or words"}};
  Axis measured_on{*this, {"measured_on", "text", "our network; empty: not measured in this study"}};
  Interval ours{*this, {"ours", "as the unit", "the value of this study"}, kItsInterval};
  Value source{*this, {"source", "text", "table and column that it was taken from"}};
  Value comparable{*this, {"comparable", "name", "yes, or not comparable"}};
  Value reason{*this, {"reason", "text", "why the two are not comparable"}};
};
inline constexpr PublishedValues published_values;

}  // namespace buoy::schema
