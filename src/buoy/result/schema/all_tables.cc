#include "buoy/result/schema/all_tables.h"

#include <array>

#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/claims.h"
#include "buoy/result/schema/drift.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/schema/floating.h"
#include "buoy/result/schema/flow.h"
#include "buoy/result/schema/qk.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/result/schema/search.h"
#include "buoy/result/schema/structure.h"
#include "buoy/result/schema/study.h"
#include "buoy/result/schema/tasks.h"

namespace buoy::schema {
namespace {

constexpr auto kTables = std::to_array<const TableSchema*>({
    &floating_by_layer,
    &floating_concentration,
    &floating_depth,
    &floating_by_step,
    &floating_by_head,
    &floating_composition,
    &floating_tokens,
    &drift_by_layer,
    &drift_summary,
    &drift_by_head,
    &drift_order,
    &drift_map,
    &drift_path,
    &drift_tracks,
    &absorption_published,
    &absorption_by_layer,
    &absorption_summary,
    &absorption_by_step,
    &absorption_by_head,
    &absorption_split_half,
    &published_absorption,
    &qk_by_layer,
    &qk_by_head,
    &qk_by_step,
    &qk_depth,
    &qk_columns,
    &qk_pairs,
    &qk_published,
    &qk_rotation_check,
    &retrieval_by_head,
    &retrieval_by_layer,
    &retrieval_summary,
    &retrieval_tests,
    &retrieval_agreement,
    &flow_by_layer,
    &flow_by_head,
    &flow_gold_by_layer,
    &flow_gold_by_rollout,
    &flow_rollout,
    &flow_matrix,
    &flow_samples,
    &structure_by_layer,
    &structure_by_head,
    &structure_floating,
    &structure_depth,
    &tasks_anchors,
    &tasks_by_layer,
    &tasks_by_task,
    &tasks_traces,
    &eval_scores,
    &eval_averages,
    &eval_gains,
    &eval_gain_ratio,
    &eval_differences,
    &eval_effects,
    &eval_middle,
    &eval_columns,
    &eval_positions,
    &eval_labels,
    &eval_attention,
    &eval_failures,
    &overview,
    &claims,
    &hits,
    &study_parts,
});

}  // namespace

std::span<const TableSchema* const> all_tables() {
  return kTables;
}

}  // namespace buoy::schema
