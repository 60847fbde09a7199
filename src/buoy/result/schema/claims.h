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

struct ClaimQuantities : TableSchema {
  constexpr ClaimQuantities()
      : TableSchema({kClaims, "claim_quantities",
                     "The numbers that claims rest on, one per network: what verdicts about kinds of models "
                     "are made of"}) {}
  Axis network{*this, {"network", "text", "name of the network"}};
  Value arm{*this, {"arm", "text", "of the study: its networks are trained alike"}};
  Value kind{*this, {"kind", "name", "masked diffusion or autoregressive"}};
  Value mask{*this, {"mask", "name", "of its attention: causal, prefix or full; empty: not known"}};
  Value objective{*this,
                  {"objective", "name", "what it was trained to predict: masked tokens or next token"}};
  Axis claim{*this, {"claim", "text", "claim of the paper"}};
  Axis quantity{*this, {"quantity", "text", "what was measured (docs/verdicts.md)"}};
  Axis data{*this, {"data", "text", "which questions, asked how"}};
  Interval value{*this,
                 {"value", "as the quantity", "of this network"},
                 {"lower end of its interval over questions", "upper end"}};
  Value samples{*this, {"samples", "samples", "questions that it rests on"}};
  Value rules{*this, {"rules", "text", "version of the rules of verdicts: their SHA-256"}};
  Value questions{
      *this,
      {"questions", "text", "SHA-256 of the questions, prompts and decoding settings; empty: not known"}};
  Value weights{*this, {"weights", "text", "SHA-256 of the weights; empty: not known"}};
  Axis control{*this, {"control", "name", "untrained: a control that counts as no network; else empty"}};
};
inline constexpr ClaimQuantities claim_quantities;

struct ClaimContrasts : TableSchema {
  constexpr ClaimContrasts()
      : TableSchema(
            {kClaims, "claim_contrasts",
             "What mask and objective do to the numbers that claims rest on: arms of two networks or more, "
             "two arms at a time. No claim is judged by it, and nothing is corrected for their number"}) {}
  Axis claim{*this, {"claim", "text", "claim of the paper"}};
  Axis quantity{*this, {"quantity", "text", "what was measured (docs/verdicts.md)"}};
  Axis data{*this, {"data", "text", "which questions, asked how"}};
  Axis arm{*this, {"arm", "text", "objective and mask of its networks"}};
  Axis other{*this, {"other", "text", "of the arm it is compared with"}};
  Value effect{*this, {"effect", "name", "what the two differ in: mask, objective, or mask and objective"}};
  Interval difference{*this,
                      {"difference", "as the quantity", "mean of arm minus mean of other"},
                      {"lower end of its interval over networks and questions, by Welch", "upper end"}};
  Value networks{*this, {"networks", "networks", "of arm"}};
  Value other_networks{*this, {"other_networks", "networks", "of other"}};
  Value margin{*this, {"margin", "as the quantity", "what is too small to matter; 0: no margin is set"}};
  Value untrained{*this,
                  {"untrained", "as the quantity",
                   "the same difference of untrained controls of both arms; empty: one arm has none"}};
  Value finding{
      *this,
      {"finding", "name",
       "where the interval lies (docs/verdicts.md, contrasts of arms): beyond the margin; beyond the "
       "margin, no controls; also without training (beyond the margin, but not beyond what untrained "
       "controls show: no effect of training); within the margin; open"}};
};
inline constexpr ClaimContrasts claim_contrasts;

}  // namespace buoy::schema
