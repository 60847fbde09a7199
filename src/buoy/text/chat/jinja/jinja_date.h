#pragma once

#include <optional>
#include <string>

namespace buoy::text::jinja {

// The day that strftime_now() is told, at midnight. The default is the one Llama 3.1's template has, so that
// what is rendered today is rendered tomorrow.
struct Date {
  int year = 2024, month = 7, day = 26;
};

// A date by C's format letters. Refuses those Buoy does not know.
std::string format_date(const Date& date, const std::string& format);

// "2024-07-26"; nothing for what is no date.
std::optional<Date> date_from_text(const std::string& text);

}  // namespace buoy::text::jinja
