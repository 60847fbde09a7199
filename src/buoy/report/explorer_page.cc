#include <fmt/format.h>

#include "buoy/report/explorer.h"
#include "buoy/report/html.h"
#include "buoy/report/web/assets.h"

namespace buoy::report {

std::string explorer_page(std::span<const ExplorerPanel> panels, bool difference) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>" +
      escape_html(panels.empty() ? "Explore" : panels.front().trace) + "</title>\n<style>\n";
  page += web_asset("page.css");
  page += web_asset("explorer.css");
  page +=
      "main { padding-top: 0; } section { margin-top: 0; padding-top: 0; border: 0; } h2 { display: none; "
      "}\n";
  page += "</style></head>";
  page +=
      difference && panels.size() > 1 ? fmt::format("<body data-minus=\"{}\">", panels.size() - 1) : "<body>";
  page += "\n<main>\n" + explorer_html(panels) + "</main>\n<script>\n";
  // page.js is left out: it serves the bar and the tables of a report.
  page += "(() => {\n'use strict';\n";
  page += web_asset("explorer.js");
  page += "})();\n</script></body></html>\n";
  return page;
}

}  // namespace buoy::report
