#include "buoy/analysis/core/all_tables.h"

#include "buoy/analysis/core/analysis.h"
#include "buoy/result/schema/claims.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/schema/published.h"
#include "buoy/result/schema/score.h"
#include "buoy/result/schema/search.h"
#include "buoy/result/schema/study.h"

namespace buoy::schema {

const std::vector<const TableSchema*>& all_tables() {
  static const auto tables = [] {
    std::vector<const TableSchema*> all;
    for (const auto& kind : analysis::analysis_kinds())
      all.insert(all.end(), kind.tables.begin(), kind.tables.end());
    all.insert(all.end(), kEvaluationTables.begin(), kEvaluationTables.end());
    for (const TableSchema* table : std::initializer_list<const TableSchema*>{
             &claims, &claim_quantities, &claim_contrasts, &published_values, &hits, &score_summary,
             &score_answers, &score_tokens, &score_passages, &study_parts})
      all.push_back(table);
    return all;
  }();
  return tables;
}

}  // namespace buoy::schema
