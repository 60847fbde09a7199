#include "buoy/result/table_advice.h"

#include <fmt/format.h>

namespace buoy {

std::string observe_for(const TableSchema& table) {
  const auto of_producer = table.producer().observe, of_table = table.needs().observe;
  return fmt::format("{}{}{}", of_producer, of_producer.empty() || of_table.empty() ? "" : ",", of_table);
}

std::string how_to_get(const TableSchema& table) {
  const Producer& producer = table.producer();
  if (producer.source == Source::kAnalysis)
    return fmt::format("buoy analyze {} on a trace with `observe` {}{}", producer.name, observe_for(table),
                       producer.data);
  std::string command(table.needs().question.empty() ? "buoy eval" : table.needs().question);
  if (!observe_for(table).empty()) command += fmt::format(" with `observe` {}", observe_for(table));
  return command + ", and buoy report with `evaluations`";
}

}  // namespace buoy
