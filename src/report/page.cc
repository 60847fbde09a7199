#include "report/page.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/base64.h"
#include "base/files.h"
#include "base/version.h"
#include "figure/render.h"
#include "report/explorer_panel_script.h"
#include "report/explorer_script.h"
#include "report/explorer_style.h"
#include "report/html.h"
#include "report/page_style.h"
#include "report/result_files.h"

namespace buoy::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRowsOnPage = 100;
constexpr double kNarrowMm = 130;

const char* style_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSupported:
      return "supported";
    case Verdict::kContradicted:
      return "contradicted";
    case Verdict::kMixed:
      return "mixed";
    case Verdict::kUndecided:
      return "undecided";
    case Verdict::kNotTestable:
      break;
  }
  return "untestable";
}

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

std::string claims_html(const std::vector<ClaimVerdict>& claims) {
  std::string out =
      "<h2 id=\"claims\">Verdicts</h2>\n<p class=\"question\">What these traces say about the claims of "
      "arXiv 2601.07894. Mixed: something speaks for a claim and something against it. Not decided: nothing "
      "contradicts anything, but intervals are too wide, or there are fewer than 10 samples; a study to be "
      "cited should have 200. Hover a claim for its test.</p>\n<table "
      "class=\"claims\"><thead><tr><th></th><th>Claim</th><th>Verdict</th><th>Evidence</th>"
      "</tr></thead><tbody>\n";
  for (const auto& claim : claims) {
    const std::string evidence =
        claim.verdict == Verdict::kNotTestable && !claim.needs.empty() ? claim.needs : claim.evidence;
    out += fmt::format(
        "<tr><td>{}</td><td title=\"{}\">{}</td><td><span class=\"verdict "
        "{}\">{}</span></td><td>{}</td></tr>\n",
        escape_html(claim.id), escape_html(claim.test), escape_html(claim.claim), style_of(claim.verdict),
        name_of(claim.verdict), escape_html(evidence));
  }
  return out + "</tbody></table>\n";
}

std::string figure_html(const NamedFigure& named) {
  const std::string svg = figure::render(named.figure, figure::Format::kSvg);
  return fmt::format(
      "<figure class=\"{}\"><img alt=\"{}\" src=\"data:image/svg+xml;base64,{}\"><figcaption>{} "
      "<span class=\"files\">(<a href=\"figures/{}.pdf\">PDF</a>, <a href=\"figures/{}.svg\">SVG</a>, "
      "<a href=\"figures/{}.png\">PNG</a>)</span></figcaption></figure>\n",
      named.figure.width_mm < kNarrowMm ? "narrow" : "wide", escape_html(named.caption), to_base64(svg),
      escape_html(named.caption), named.name, named.name, named.name);
}

std::string section_html(const Section& section, const std::vector<Table>& tables) {
  std::string out =
      fmt::format("<h2 id=\"{}\">{}</h2>\n<p class=\"question\">{}</p>\n<ul class=\"readings\">\n",
                  section.name, escape_html(section.title), escape_html(section.question));
  for (const auto& reading : section.readings) out += "<li>" + escape_html(reading) + "</li>\n";
  out += "</ul>\n";
  if (figure::can_render()) {
    for (const auto& named : section.figures) out += figure_html(named);
  }
  for (const auto& table : tables) out += table_html(table, kRowsOnPage, "tables/" + table.name);
  return out;
}

}  // namespace

ReportSize write_report(const ReportInput& input, const fs::path& folder) {
  ReportSize size;
  std::vector<Table> all;
  for (const auto& analysis : input.analyses)
    all.insert(all.end(), analysis.tables.begin(), analysis.tables.end());
  std::vector<TraceKind> kinds;
  for (const auto& trace : input.traces) {
    if (trace.judged) kinds.push_back(trace.kind);
  }
  const auto claims = judge_claims(all, kinds);

  std::string nav = "<nav><div><a href=\"#run\">Run</a><a href=\"#claims\">Verdicts</a>", body;
  if (!input.explorer.empty()) nav += "<a href=\"#explore\">Explore</a>";
  for (const auto& analysis : input.analyses) {
    const Section section = build_section(analysis.name, analysis.tables);
    nav += fmt::format("<a href=\"#{}\">{}</a>", section.name, escape_html(section.title));
    body += section_html(section, analysis.tables);
    size.tables += write_tables(analysis.tables, folder);
    size.figures += write_figures(section, folder);
  }
  nav += "</div></nav>\n";
  const Table verdicts = claims_table(claims);
  size.tables += write_tables({&verdicts, 1}, folder);

  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>Where attention floats</title>\n<style>";
  page += kStyle;
  if (!input.explorer.empty()) page += kExplorerStyle;
  page += "</style></head><body>\n" + nav + "<main>\n<h1>Where attention floats</h1>\n";
  page += fmt::format("<p class=\"lead\">Made by Buoy {}", version());
  page +=
      ". Published estimators beside calibrated ones; intervals are bootstraps over samples, of shares "
      "Wilson's and Newcombe's (95% unless "
      "the command says otherwise).</p>\n";
  if (!input.notes.empty()) {
    page += "<div class=\"notes\">";
    for (const auto& note : input.notes) page += "<p>" + escape_html(note) + "</p>";
    page += "</div>\n";
  }
  page += claims_html(claims) + explorer_html(input.explorer) + body + runs_html(input) + "</main>\n<script>";
  page += kScript;
  if (!input.explorer.empty()) {
    for (const char* part : {kExplorerScriptBegin, kExplorerPanelScript, kExplorerScriptEnd}) page += part;
  }
  page += "</script></body></html>\n";
  write_file_atomically(folder / "report.html", page);
  return size;
}

}  // namespace buoy::report
