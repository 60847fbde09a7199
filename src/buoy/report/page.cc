#include "buoy/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "buoy/base/base64.h"
#include "buoy/base/file/files.h"
#include "buoy/base/version.h"
#include "buoy/report/front/first_screen.h"
#include "buoy/report/front/terms.h"
#include "buoy/report/html.h"
#include "buoy/report/networks/networks_part.h"
#include "buoy/report/result_files.h"
#include "buoy/report/web/assets.h"
#include "buoy/result/schema/evaluation.h"

namespace buoy::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRowsOnPage = 100;

std::string runs_html(const ReportInput& input) {
  std::string out =
      "<h2 id=\"run\">What was run</h2>\n<p class=\"question\">" + escape_html(input.command) + "</p>\n";
  out += "<div class=\"scroll\"><table class=\"facts\"><tbody>\n";
  if (!input.traces.empty()) {
    out += "<tr><th></th>";
    for (const auto& trace : input.traces) out += "<td><b>" + escape_html(trace.kind.label) + "</b></td>";
    out += "</tr>\n";
    for (size_t i = 0; i < input.traces[0].facts.size(); ++i) {
      out += "<tr><th>" + escape_html(input.traces[0].facts[i].first) + "</th>";
      for (const auto& trace : input.traces) out += "<td>" + escape_html(trace.facts[i].second) + "</td>";
      out += "</tr>\n";
    }
  }
  return out + "</tbody></table></div>\n";
}

std::string rules_html() {
  return fmt::format(
      "<details class=\"rules\"><summary>How verdicts are made</summary><p>A quantity is for or against a "
      "claim "
      "only beyond its margin; several quantities of one claim are corrected together (Holm). Mixed: "
      "something "
      "speaks for a claim, and something does not bear it out. Not decided: some quantities are open, "
      "because "
      "intervals are too wide or there are fewer than {} samples; the count says what the others are. How "
      "large an effect must be for a study of so many questions and networks to find it, the check of a "
      "study "
      "says before anything runs. Verdicts are about these models: their unit is the "
      "question. "
      "About "
      "kinds of models nothing is said with fewer than {} networks per arm. Version of the rules: "
      "<code>{}</code>.</p></details>\n",
      claims::kFewestSamples, claims::kFewestNetworks, claims::rules_hash());
}

std::string left_out_html(const std::string& what, const std::string& reason) {
  return fmt::format("<p class=\"left-out\">{} is left out: {}</p>\n", escape_html(what), prose_html(reason));
}

std::string image_of(const std::string& svg) {
  return "data:image/svg+xml;base64," + to_base64(svg);
}

std::string figure_html(const DrawnFigure& figure) {
  std::string out;
  if (!figure.svg.empty()) {
    out = fmt::format(
        "<figure class=\"{0}\"><div class=\"drawing\"><picture><source media=\"screen and "
        "(prefers-color-scheme: dark)\" srcset=\"{1}\"><img alt=\"{5}\" src=\"{3}\"></picture></div>"
        "<figcaption>{2} <span class=\"files\">(<a href=\"figures/{4}.pdf\">PDF</a>, "
        "<a href=\"figures/{4}.svg\">SVG</a>, <a href=\"figures/{4}.png\">PNG</a>)</span></figcaption>"
        "</figure>\n",
        figure.narrow ? "narrow" : "wide", image_of(figure.dark_svg), prose_html(figure.caption),
        image_of(figure.svg), escape_html(figure.name), escape_html(figure.told));
  }
  const std::string what = (figure.svg.empty() ? "Figure " : "Part of figure ") + figure.name;
  for (const auto& reason : figure.left_out) out += left_out_html(what, reason);
  return out;
}

std::string section_html(const DrawnSection& section, const std::vector<Table>& tables) {
  std::string out =
      fmt::format("<h2 id=\"{}\">{}</h2>\n", escape_html(section.name), escape_html(section.title));
  if (!section.left_out.empty()) {
    out += left_out_html(section.title, section.left_out);
  } else {
    out +=
        fmt::format("<p class=\"question\">{}</p>\n<ul class=\"readings\">\n", escape_html(section.question));
    for (const auto& reading : section.readings) out += "<li>" + prose_html(reading) + "</li>\n";
    out += "</ul>\n";
  }
  for (const auto& figure : section.figures) out += figure_html(figure);
  for (const auto& sentence : section.missing)
    out += fmt::format("<p class=\"left-out\">Left out: {}</p>\n", prose_html(sentence));
  for (const auto& table : tables) out += table_html(table, kRowsOnPage, "tables/" + table.name);
  return out;
}

std::string notices_html(const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "<div class=\"notes\">";
  for (const auto& line : lines) out += "<p>" + prose_html(line) + "</p>";
  return out + "</div>\n";
}

// Each with the traces whose config it has.
std::vector<Control> controls_of(std::span<const TraceSummary> traces) {
  std::vector<Control> out;
  for (const auto& trace : traces) {
    if (!trace.control) continue;
    Control control{trace.kind.label, trace.model, {}};
    for (const auto& other : traces) {
      if (!other.control && other.config == trace.config) control.beside.push_back(other.kind.label);
    }
    out.push_back(std::move(control));
  }
  return out;
}

}  // namespace

std::vector<Table> judged_tables(const ReportInput& input) {
  std::vector<Table> all;
  for (const auto& analysis : input.analyses)
    all.insert(all.end(), analysis.tables.begin(), analysis.tables.end());
  return all;
}

std::vector<claims::TraceKind> judged_traces(const ReportInput& input) {
  std::vector<claims::TraceKind> kinds;
  for (const auto& trace : input.traces) {
    if (!trace.judged) continue;
    kinds.push_back(trace.kind);
    if (kinds.back().network.empty()) kinds.back().network = trace.model;
    if (trace.control) kinds.back().about.control = kUntrainedName;
  }
  return kinds;
}

Written write_report(const ReportInput& input, const fs::path& folder) {
  Written written;
  const auto controls = controls_of(input.traces);
  const auto claims = claims::judge_claims(judged_tables(input), judged_traces(input), input.background);

  std::string nav = "<nav><div><a href=\"#claims\">Findings</a>", body;
  if (!input.explorer.empty()) nav += "<a href=\"#explore\">Explore</a>";
  FileNames names;
  const NetworksPart networks = networks_part(claims, input.background.siblings, names);
  // A study that was made for something else begins with that.
  const bool tests_claims = std::any_of(claims.begin(), claims.end(), [](const auto& claim) {
    return claim.verdict != claims::Verdict::kNotTestable;
  });
  const auto add_networks = [&] {
    body += section_html(networks.section, networks.tables);
    nav += "<a href=\"#networks\">Networks</a>";
  };
  if (tests_claims) add_networks();
  written.figures += write_figures(networks.section, folder);
  written.tables += write_tables(networks.tables, folder);
  ModelColors colors;
  for (const auto& trace : input.traces) {
    if (trace.control) continue;
    colors.add_trace(trace.kind.label, trace.model.empty() ? trace.kind.label : trace.model);
  }
  for (const auto& analysis : input.analyses) {
    if (analysis.name == schema::kEvaluation.name) colors.add_names(analysis.tables);
  }
  const std::vector<const ModelColors*> one_for_all(input.analyses.size(), &colors);
  const auto sections = draw_sections(input.analyses, one_for_all, names, controls);
  for (size_t a = 0; a < sections.size(); ++a) {
    const auto& analysis = input.analyses[a];
    const DrawnSection& section = sections[a];
    nav += fmt::format("<a href=\"#{}\">{}</a>", escape_html(section.name), escape_html(section.title));
    body += section_html(section, analysis.tables);
    written.tables += write_tables(analysis.tables, folder);
    written.figures += write_figures(section, folder);
    const auto omissions = section.omissions();
    written.left_out.insert(written.left_out.end(), omissions.begin(), omissions.end());
  }
  if (!tests_claims) add_networks();
  nav += "<a href=\"#run\">What was run</a></div></nav>\n";
  for (const auto& claim : claims) {
    if (!claim.failure.empty()) written.left_out.push_back(claim.id + " is left out: " + claim.failure);
  }
  const Table verdicts = claims::claims_table(claims);
  written.tables += write_tables({&verdicts, 1}, folder);

  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta name=\"generator\" content=\"Made by Buoy " +
      std::string(version()) + "\"><title>" + escape_html(input.title) + "</title>\n<style>\n";
  page += web_asset("page.css");
  if (!input.explorer.empty()) page += web_asset("explorer.css");
  page += "</style></head><body>\n" + nav + "<main>\n<h1>" + escape_html(input.title) + "</h1>\n";
  page += models_html(input) + notices_html(input.notices.lines()) + findings_html(claims);
  page += "<div class=\"folds\">\n" + methods_html(input) + terms_html() + rules_html() + "</div>\n";
  page += explorer_html(input.explorer) + body + runs_html(input);
  page += fmt::format(
      "<p class=\"lead\">Made by Buoy {}. Published estimators stand beside calibrated ones.</p>\n</main>\n"
      "<script>\n",
      version());
  page += web_asset("page.js");
  if (!input.explorer.empty()) {
    page += "(() => {\n'use strict';\n";
    page += web_asset("explorer.js");
    page += "})();\n";
  }
  page += "</script></body></html>\n";
  write_file_atomically(folder / "report.html", page);
  return written;
}

}  // namespace buoy::report
