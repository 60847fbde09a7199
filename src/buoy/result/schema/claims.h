#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kClaims{Source::kClaims, "claims", "Claims", "", ""};

struct Claims : TableSchema {
  constexpr Claims() : TableSchema({kClaims, "claims", "The paper's claims: what this data says"}) {}
  Axis id{*this, {"id", "text", "claim of the paper"}};
  Axis trace{*this, {"trace", "text", "overall, a trace, or one trace against another"}};
  Value verdict{*this,
                {"verdict", "name",
                 "about these models: supported, contradicted, no difference beyond the margin, mixed "
                 "(traces, parts or layers disagree), not decided (some parts are open) or not testable "
                 "with this data"}};
  Value claim{*this, {"claim", "text", "the claim in one sentence"}};
  Value test{*this, {"test", "text", "what was computed, with its threshold"}};
  Value evidence{*this, {"evidence", "text", "numbers with bootstrap intervals over samples"}};
  Value needs{*this, {"needs", "text", "what is lacking and how to get it"}};
  Value parts{
      *this,
      {"parts", "text",
       "how many quantities are for, against, as good as equal, open or lacking; overall, where there "
       "are several traces: what these say"}};
  Value kinds{*this,
              {"kinds", "text",
               "the same claim about kinds of models, with networks as samples; in the row of all traces"}};
  Value rules{*this, {"rules", "text", "version of the rules of verdicts: their SHA-256"}};
};
inline constexpr Claims claims;

}  // namespace buoy::schema
