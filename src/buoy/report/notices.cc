#include "buoy/report/notices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace buoy::report {
namespace {

std::string list_of(const std::vector<std::string>& names) {
  if (names.size() == 1) return names[0];
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace

void Notices::add(std::string text) {
  const bool known =
      std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.text == text; });
  if (!known) entries_.push_back({std::move(text), {}, {}, {}});
}

void Notices::add(const std::string& about, const std::string& text) {
  add(fmt::format("{}: {}", about, text));
}

void Notices::leave_out(const std::string& part, const std::string& about, const std::string& reason) {
  const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return !entry.parts.empty() && entry.about == about && entry.reason == reason;
  });
  if (same == entries_.end()) {
    entries_.push_back({{}, {part}, about, reason});
  } else if (std::find(same->parts.begin(), same->parts.end(), part) == same->parts.end()) {
    same->parts.push_back(part);
  }
}

std::vector<std::string> Notices::lines() const {
  std::vector<std::string> out;
  for (const auto& entry : entries_) {
    if (entry.parts.empty()) {
      out.push_back(entry.text);
      continue;
    }
    out.push_back(fmt::format("{} {} left out{}: {}", list_of(entry.parts),
                              entry.parts.size() == 1 ? "is" : "are",
                              entry.about.empty() ? "" : " for " + entry.about, entry.reason));
  }
  return out;
}

}  // namespace buoy::report
