#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "buoy/claims/kinds.h"
#include "buoy/claims/measured.h"
#include "buoy/claims/rules.h"
#include "buoy/claims/verdict.h"
#include "buoy/result/table.h"

namespace buoy::claims {

struct TraceKind {
  std::string label;
  bool masked_diffusion = true;
  std::int64_t samples = 0;
  std::string network = {};    // which was traced; "": one of its own
  Network about = {};          // what else is known of it; name and kind are those above
  std::string data = {};       // which questions, for people
  std::string questions = {};  // their identity; "": not known

  Network traced() const;
};

// What tables do not say: of evaluations and tasks, which name models only.
struct Background {
  std::vector<Network> networks;  // by name
  // Identity of what a run of buoy eval (by its label) asked a network.
  std::map<std::pair<std::string, std::string>, std::string> questions;
  std::map<std::string, std::string> tasks;    // the same of the tasks that a network was compared on
  std::map<std::string, std::string> aliases;  // names that tables have for networks
  std::vector<NetworkQuantity> siblings;       // numbers of other networks, from tables that were given

  Network network(const std::string& name, bool masked_diffusion) const;
  // Of a run, a network and what it was asked there; "" where nothing is known.
  std::string questions_of(const std::string& run, const Network& network, const std::string& data) const;
  std::string tasks_of(const std::string& network) const;
};

struct TraceVerdict {
  std::string trace;  // its label; for a comparison of two: "A against B"
  Verdict verdict = Verdict::kNotTestable;
  std::string evidence;
  std::string needs;
  std::string parts = {};                        // "1 for, 2 against, 1 open"
  std::vector<Network> networks = {};            // that it is about
  std::vector<Measured> measured = {};           // the numbers of `evidence`, for sentences
  std::vector<NetworkQuantity> quantities = {};  // the numbers it rests on
};

struct ClaimVerdict {
  std::string id;
  std::string claim;  // one sentence
  std::string test;   // what was computed, with its threshold
  Verdict verdict = Verdict::kNotTestable;
  std::string parts;     // of the only trace, or how many traces say what
  std::string evidence;  // numbers with intervals, trace by trace
  std::string needs;     // what is lacking and how to get it; empty when nothing is
  std::vector<TraceVerdict> by_trace;
  std::vector<NetworkQuantity> quantities;  // all numbers of networks that were measured here
  KindsVerdict kinds;                       // about kinds of models, from networks
  std::string remark = {};                  // a sentence that its headline needs: what the numbers hide
  std::string failure;                      // why it could not be judged at all; empty: it was
};

// The paper's claims C1 to C10, from the tables of all analyses together. Tables carry a first column
// "trace".
std::vector<ClaimVerdict> judge_claims(std::span<const Table> tables, std::span<const TraceKind> traces,
                                       const Background& background = {});

// One row for each claim overall, followed by one for each trace it was judged on.
Table claims_table(std::span<const ClaimVerdict> verdicts);

}  // namespace buoy::claims
