#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "buoy/run/evaluation.h"
#include "buoy/run/loaded_model.h"
#include "buoy/run/trace_request.h"
#include "model_handle.h"

namespace buoy::python {

// What is asked of a model, as Python writes it: a JSON object with the keys of studies (decoding options,
// observe, layers, steps_observed, groups, final_row, chat, system, ...), and what is changed meanwhile.
// UsageErrors name keys.
run::TraceRequest read_trace_request(const std::string& text, const ModelHandle& model,
                                     const run::Changes& changes);

// A tracer wants something to observe; what it frames is the same whatever it is.
run::Request traceable(run::Request request);

// The same for `evaluate`.
run::EvaluationSpec read_evaluation_spec(const std::string& text, const ModelHandle& model,
                                         const run::Changes& changes);

}  // namespace buoy::python
