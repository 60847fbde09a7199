#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "buoy/run/arrangement.h"
#include "buoy/run/change/column_change.h"
#include "buoy/run/change/head_change.h"
#include "buoy/run/change/top_keys.h"
#include "buoy/run/decoding.h"

namespace buoy::run {

using TraceOfModel = std::map<std::string, std::filesystem::path>;  // folder of a trace by name of the model

// One way of asking a whole data set: which passages go into the prompt, and what else differs.
struct Condition : Arrangement {
  std::string name = "passages";
  std::optional<std::string> prompt;  // template instead of the run's
  std::optional<std::int32_t> slots;  // generated tokens
  std::optional<std::int32_t> steps;
  std::optional<std::string> order;  // of unmasking
  std::optional<std::uint64_t> seed;
  std::map<std::string, std::vector<HeadId>> heads_off;  // by model
  std::optional<ColumnChange> hidden;                    // by what these traces saw
  TraceOfModel column_traces;
  std::optional<TopChange> top;  // keys hidden by what they receive
  std::string top_text;          // the same as it is stored

  // Where on the axis of a sweep it stands; "" outside of one.
  std::string axis, value;
};

// Steps and the order of unmasking mean nothing to a model that writes from left to right.
bool applies(const Condition& condition, bool masked_diffusion);

DecodeOptions decoding_of(const Condition& condition, DecodeOptions decoding);

// "gold-position=1-10", "noise-kind=random,shuffled": one condition for each value, made from `base`.
// UsageError for an axis or value there is none of.
std::vector<Condition> sweep(const std::string& text, const Condition& base);

// Heads that a trace of each model names are switched off: none; the best `share` of all heads by the strict
// retrieval score; as many others, drawn `controls` times. Axis "heads".
struct HeadStudy {
  TraceOfModel traces;
  double share = 0.05;
  std::int64_t controls = 5;
};
std::vector<Condition> head_conditions(const HeadStudy& study, const Condition& base);
// The same by their number, in place of the share: the best K for each value of "heads-off=0,1,5", and as
// many others, each draw on an axis of its own. UsageError for more heads than a model has.
inline constexpr char kHeadsOffAxis[] = "heads-off";
std::vector<Condition> head_sweep(const std::string& values, const HeadStudy& study, const Condition& base);

// Columns of attention that traces of the same questions tell of are hidden: none; in each third of the
// depth the floating ones, as many drawn ones, as many drawn structural ones. Axis "hidden".
std::vector<Condition> column_conditions(const TraceOfModel& traces, const Condition& base);

// Keys that receive most are hidden: K of them for each value of "hidden-keys=0,1,5,10", and again for each
// control ("random,mass"), on an axis of its own. UsageError for sources that conditions cannot have.
struct TopSweep {
  std::string values;    // "0,1,5,10"
  std::string of;        // "step-before" (or ""), "rule:NAME"
  std::string controls;  // of kinds, with commas; "": none
};
inline constexpr char kHiddenKeysAxis[] = "hidden-keys";
std::vector<Condition> top_conditions(const TopSweep& request, const Condition& base);

// What a run asks for, as its options say it.
struct ConditionRequest {
  Condition base;
  bool closed_book = false;    // without passages; together with the others: both
  bool with_passages = false;  // asked for; otherwise only when closed_book is not
  std::string sweep;           // in place of the one condition with passages
  std::optional<HeadStudy> heads;
  TraceOfModel columns;                   // empty: none are hidden
  std::string hide_top_of, hide_control;  // with the sweep `hidden-keys`
};
std::vector<Condition> make_conditions(const ConditionRequest& request);

std::string describe_sweeps();  // axes with a line on each, for the help

}  // namespace buoy::run
