#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <tuple>

#include "bindings.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/base/error.h"
#include "buoy/base/file/named_path.h"
#include "buoy/base/stopwatch.h"
#include "buoy/report/drawn_section.h"
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

// The tables of one analysis, and its figures when somebody wants to see them.
struct Analysed {
  report::AnalysedTables result;

  std::vector<std::string> tables() const {
    std::vector<std::string> out;
    for (const auto& table : result.tables) out.push_back(to_json(table));
    return out;
  }
};

// Name, caption, what its texts tell, drawing, drawing for dark screens; then what was left out.
py::tuple figures(const Analysed& analysed) {
  report::DrawnSection section;
  {
    py::gil_scoped_release released;
    report::ModelColors colors;
    colors.add_names(analysed.result.tables);
    report::FileNames names;
    section = report::draw_section(analysed.result, colors, names);
  }
  py::list drawn;
  for (const auto& figure : section.figures) {
    if (!figure.svg.empty())
      drawn.append(py::make_tuple(figure.name, figure.caption, figure.told, figure.svg, figure.dark_svg));
  }
  return py::make_tuple(drawn, section.readings, section.omissions());
}

Analysed analyze(const std::string& name, const std::vector<std::string>& traces, std::int64_t limit,
                 std::int64_t resamples, const py::object& progress) {
  Analysed out;
  interruptible(progress, [&](Watch& watch) {
    const auto& kind = analysis::find_analysis(name);  // a wrong name before any work
    analysis::RunOptions options;
    options.limit = limit;
    options.analysis.bootstrap.replicates = resamples > 0 ? resamples : options.analysis.bootstrap.replicates;
    const ProgressTo listening(watch);
    const auto inputs = study::labelled_traces(split_names(traces), options.integrity());
    out.result = {std::string(kind.producer.name), std::string(kind.producer.title),
                  study::run_with_progress({name}, inputs, options).analyses.at(0).tables};
  });
  return out;
}

void report(const std::vector<std::string>& traces, const std::vector<std::string>& evaluations,
            const std::string& title, const std::string& out, const py::object& progress) {
  interruptible(progress, [&](Watch& watch) {
    const ProgressTo listening(watch);
    study::build_report(
        {title, split_names(traces), {}, split_names(evaluations), {}, {}, out, "buoy.report (Python)"});
  });
}

void run_study(const std::string& file, const std::string& out, int threads, const std::string& device,
               const py::object& progress) {
  interruptible(progress, [&](Watch& watch) {
    const ProgressTo listening(watch);
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

// The explorer of a report, alone on a page, for one sample or a few: label ("": its model), folder of the
// trace, number in it. With `difference` the last one is
// subtracted from the others.
std::string explorer_page(const std::vector<std::tuple<std::string, std::string, std::int64_t>>& samples,
                          bool difference) {
  std::vector<analysis::TraceInput> inputs;
  analysis::RunOptions options;
  for (const auto& [label, folder, number] : samples)
    inputs.push_back(study::labelled_traces({{label, folder}}, options.integrity()).front());
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].label == inputs[0].label) inputs[i].label += fmt::format(" ({})", i + 1);
  }
  std::vector<report::ExplorerPanel> panels;
  for (size_t i = 0; i < inputs.size(); ++i) {
    options.analysis.sample = std::get<2>(samples[i]);
    panels.push_back(study::explored_trace(inputs[i], options));
    if (!panels.back().lacking.empty()) throw InputError(panels.back().lacking);
    if (samples.size() > 1) panels.back().more.clear();  // the one, and none beside it
  }
  return report::explorer_page(panels, difference);
}

}  // namespace

void bind_results(py::module_& module) {
  py::class_<Analysed>(module, "Analysed")
      .def_property_readonly("tables", &Analysed::tables)
      .def("figures", &figures);
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
