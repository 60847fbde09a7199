#include "buoy/result/rule_names.h"

namespace buoy {

std::string sigma_rule(const TableView& rows, const ColumnSchema& column) {
  const std::string sigma = "_sigma";
  if (!rows.has(column)) return kPublishedSigmaRule;
  for (const auto& name : rows.distinct(column)) {
    if (const auto at = name.find(sigma); at != std::string::npos) return name.substr(0, at + sigma.size());
  }
  return kPublishedSigmaRule;
}

std::string by_other_rule(const std::string& sigma_rule) {
  return sigma_rule == kPublishedSigmaRule ? "" : " by " + sigma_rule;
}

// The double of the factor stands behind the factor.
std::string share_rule(const TableView& rows, const ColumnSchema& column) {
  if (!rows.has(column)) return "";
  for (const auto& name : rows.distinct(column)) {
    if (name.starts_with("share_")) return name;
  }
  return "";
}

}  // namespace buoy
