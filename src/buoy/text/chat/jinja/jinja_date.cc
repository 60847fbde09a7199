#include "buoy/text/chat/jinja/jinja_date.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <map>

#include "buoy/text/chat/jinja/jinja_error.h"

namespace buoy::text::jinja {

std::string format_date(const Date& date, const std::string& format) {
  static constexpr std::array<const char*, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};
  static constexpr std::array<const char*, 12> kMonths = {"January",   "February", "March",    "April",
                                                          "May",       "June",     "July",     "August",
                                                          "September", "October",  "November", "December"};
  using namespace std::chrono;
  const year_month_day day{year(date.year), month(static_cast<unsigned>(date.month)),
                           std::chrono::day(static_cast<unsigned>(date.day))};
  const std::string weekday_name = kDays[weekday(sys_days(day)).c_encoding()];
  const std::string month_name = kMonths[static_cast<std::size_t>(date.month - 1)];
  const auto day_of_year = (sys_days(day) - sys_days(year(date.year) / January / 1)).count() + 1;
  const std::map<std::string, std::string> parts = {
      {"%", "%"},
      {"Y", fmt::format("{}", date.year)},
      {"y", fmt::format("{:02}", date.year % 100)},
      {"m", fmt::format("{:02}", date.month)},
      {"-m", fmt::format("{}", date.month)},
      {"d", fmt::format("{:02}", date.day)},
      {"-d", fmt::format("{}", date.day)},
      {"e", fmt::format("{:>2}", date.day)},
      {"j", fmt::format("{:03}", day_of_year)},
      {"b", month_name.substr(0, 3)},
      {"B", month_name},
      {"a", weekday_name.substr(0, 3)},
      {"A", weekday_name},
      {"F", fmt::format("{}-{:02}-{:02}", date.year, date.month, date.day)},
      {"H", "00"},
      {"M", "00"},
      {"S", "00"},
      {"I", "12"},
      {"p", "AM"},
  };
  std::string out;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out += format[at];
      continue;
    }
    std::string letter(1, ++at < format.size() ? format[at] : '\0');
    if (letter == "-" && at + 1 < format.size()) letter += format[++at];
    const auto part = parts.find(letter);
    if (part == parts.end()) refuse_unknown("date format %" + letter);
    out += part->second;
  }
  return out;
}

std::optional<Date> date_from_text(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + length, value);
    return end == text.data() + at + length && error == std::errc() && text[at] != '-' ? value : -1;
  };
  const Date date{number(0, 4), number(5, 2), number(8, 2)};
  using namespace std::chrono;
  if (date.year < 1000 || date.month < 1 || date.day < 1) return std::nullopt;
  const year_month_day day{year(date.year), month(static_cast<unsigned>(date.month)),
                           std::chrono::day(static_cast<unsigned>(date.day))};
  return day.ok() ? std::optional(date) : std::nullopt;
}

}  // namespace buoy::text::jinja
