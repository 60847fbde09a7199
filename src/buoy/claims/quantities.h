#pragma once

#include <span>
#include <string>
#include <vector>

#include "buoy/claims/network.h"
#include "buoy/claims/rules.h"
#include "buoy/result/table.h"
#include "buoy/stats/estimate.h"

// The numbers that claims rest on, one per network: what verdicts about kinds of models are made of.
namespace buoy::claims {

struct TraceKind;
struct Background;

// Of one network, before it is said which.
struct Number {
  std::string quantity;  // that of its rule, with ": detail" where a claim has several of it
  stats::Estimate estimate;
};

struct NetworkQuantity {
  std::string claim;     // "C1"
  std::string quantity;  // as in Number
  Network network;
  std::string data;       // which questions, asked how: numbers are compared within it
  std::string questions;  // their identity (a hash); "": not known. By it, tables of others are compared
  stats::Estimate estimate;
};

// "slope of entropy: per_head"
std::string quantity_name(const QuantityRule& rule, const std::string& detail = "");
// The part after the rule's name, "" where there is none; nothing of the kind where it is of another rule.
bool is_of(const QuantityRule& rule, const std::string& quantity);
std::string detail_of(const QuantityRule& rule, const std::string& quantity);

// One number from layers (those with kFewestSamples or more, where there are any): their mean, between the
// means of their ends. Layers are of the same questions, so that its interval is no narrower than that of the
// mean.
stats::Estimate mean_over_layers(std::span<const stats::Estimate> layers);

// All numbers of all claims that the tables hold, of every network and control.
std::vector<NetworkQuantity> network_quantities(std::span<const Table> tables,
                                                std::span<const TraceKind> traces);
std::vector<NetworkQuantity> network_quantities(std::span<const Table> tables,
                                                std::span<const TraceKind> traces,
                                                const Background& background);

}  // namespace buoy::claims
