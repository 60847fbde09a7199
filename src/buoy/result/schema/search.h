#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kSearch{Source::kTerminal, "search", "Search", "", ""};

struct Hits : TableSchema {
  constexpr Hits() : TableSchema({kSearch, "hits", "passages found"}) {}
  Axis rank{*this, {"rank", "rank", "1: fits the question best"}};
  Value score{*this, {"score", "BM25", "larger is better"}};
  Value document{*this, {"document", "text", "id of the document"}};
  Value passage{*this, {"passage", "number", "of the passage in its document, from 1"}};
  Value title{*this, {"title", "text", "of the document, its beginning"}};
  Value text{*this, {"text", "text", "of the passage, its beginning"}};
};
inline constexpr Hits hits;

}  // namespace buoy::schema
