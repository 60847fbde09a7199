#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/base/error.h"
#include "buoy/base/file/named_path.h"
#include "buoy/base/stopwatch.h"
#include "buoy/report/explorer.h"
#include "buoy/report/web/assets.h"
#include "buoy/stats/share.h"
#include "buoy/study/analysed_traces.h"
#include "buoy/study/explored_trace.h"
#include "buoy/study/report_builder.h"
#include "buoy/study/study_check.h"
#include "buoy/study/study_runner.h"
#include "interruptible.h"

namespace py = pybind11;

namespace buoy::python {
namespace {

std::vector<std::string> analyze(const std::string& name, const std::vector<std::string>& traces,
                                 std::int64_t limit, std::int64_t resamples) {
  std::vector<std::string> out;
  interruptible([&](const std::atomic<bool>& stop) {
    analysis::find_analysis(name);  // a wrong name before any work
    analysis::RunOptions options;
    options.limit = limit;
    options.analysis.bootstrap.replicates = resamples > 0 ? resamples : options.analysis.bootstrap.replicates;
    options.on_sample = [&] { give_up_if(stop); };
    const auto inputs = study::labelled_traces(split_names(traces), options.integrity());
    for (const auto& result : analysis::run_analyses({name}, inputs, options).analyses) {
      for (const auto& table : result.tables) out.push_back(to_json(table));
    }
  });
  return out;
}

void report(const std::vector<std::string>& traces, const std::vector<std::string>& evaluations,
            const std::string& title, const std::string& out) {
  interruptible([&](const std::atomic<bool>&) {
    study::build_report(
        {title, split_names(traces), {}, split_names(evaluations), {}, {}, out, "buoy.report (Python)"});
  });
}

void run_study(const std::string& file, const std::string& out, int threads, const std::string& device) {
  interruptible([&](const std::atomic<bool>&) {
    auto reading = study::read_study_and_problems(file);
    if (!out.empty()) reading.study.out = out;
    const study::StudyCall call{study::StudyPlan(std::move(reading.study)), threads, device_from_name(device),
                                "buoy.study (Python)"};
    const auto findings = study::examine(call.plan, call.device);
    reading.problems.insert(reading.problems.end(), findings.problems.begin(), findings.problems.end());
    study::refuse(file, reading.problems);
    study::require_space(findings, call.plan);
    Stopwatch clock;
    study::run_study(call, clock);
  });
}

py::dict estimate(const stats::Estimate& e) {
  py::dict out;
  out["value"] = e.value;
  out["lower"] = e.lower;
  out["upper"] = e.upper;
  out["samples"] = e.samples;
  return out;
}

stats::BootstrapOptions bootstrap(double confidence, std::uint64_t seed) {
  return {.replicates = 2000, .confidence = confidence, .seed = seed};
}

// The explorer of a report, alone on a page, for one sample of a trace.
std::string explorer_page(const std::string& folder, std::int64_t sample) {
  analysis::RunOptions options;
  options.analysis.sample = sample;
  const auto inputs = study::labelled_traces({{"", folder}}, options.integrity());
  const auto panel = study::explored_trace(inputs[0], options);
  if (!panel.lacking.empty()) throw InputError(panel.lacking);
  return report::explorer_page({&panel, 1});
}

}  // namespace

void bind_results(py::module_& module) {
  module.def("analyze", &analyze);
  module.def("analyses", [] {
    py::list out;
    for (const auto& kind : analysis::analysis_kinds())
      out.append(py::make_tuple(std::string(kind.producer.name), std::string(kind.producer.title),
                                std::string(kind.producer.observe)));
    return out;
  });
  module.def("report", &report);
  module.def("study", &run_study);
  module.def("mean_estimate", [](const std::vector<double>& scores, double confidence, std::uint64_t seed) {
    return estimate(stats::mean_estimate(scores, bootstrap(confidence, seed)));
  });
  module.def("difference_estimate", [](const std::vector<double>& a, const std::vector<double>& b,
                                       double confidence, std::uint64_t seed) {
    return estimate(stats::difference_estimate({a, b}, bootstrap(confidence, seed)));
  });
  module.def("explorer_page", &explorer_page, py::call_guard<py::gil_scoped_release>());
}

}  // namespace buoy::python
