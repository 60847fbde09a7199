#include "buoy/text/chat/jinja/jinja_template.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/base/file/gzip.h"
#include "text/jinja_values.h"
#include "text/support.h"

namespace buoy::text::jinja {
namespace {

std::string render(const std::string& text, const Variables& variables = {}, const Limits& limits = {}) {
  return Template::parse(text, "t").render(variables, {}, limits);
}

std::string refusal(const std::string& text, const Limits& limits = {}) {
  return error_message<InputError>([&] { render(text, {}, limits); });
}

// tools/goldens/jinja_cases.py made them with Jinja2.
TEST(JinjaTemplate, RendersAndRefusesAsJinja2) {
  const auto json = nlohmann::ordered_json::parse(read_plain_or_gzip(data_file("jinja_cases.json.gz")));
  Variables variables;
  for (const auto& [name, value] : json.at("variables").items())
    variables.emplace(name, value_from_json(value));
  std::size_t rendered = 0, refused = 0;
  for (const auto& item : json.at("cases")) {
    const auto text = item.at("template").get<std::string>();
    SCOPED_TRACE(text);
    if (item.contains("refused")) {
      ++refused;
      EXPECT_THROW(render(text, variables), InputError) << item.at("refused");
      continue;
    }
    ++rendered;
    try {
      EXPECT_EQ(render(text, variables), item.at("rendered").get<std::string>());
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(rendered, 90U);
  EXPECT_GT(refused, 60U);
}

TEST(JinjaTemplate, WhatIsNotKnownIsRefusedByNameAndLine) {
  const std::pair<std::string, std::string> unknown[] = {
      {"{{ x | from_json }}", "filter from_json"},
      {"{{ x | e }}", "filter e"},
      {"{{ x | random }}", "filter random"},
      {"{{ x is escaped }}", "test escaped"},
      {"{% call m() %}{% endcall %}", "tag call"},
      {"{% include 'a' %}", "tag include"},
      {"{% extends 'a' %}", "tag extends"},
      {"{% import 'a' as b %}", "tag import"},
      {"{% block a %}{% endblock %}", "tag block"},
      {"{% do x.append(1) %}", "tag do"},
      {"{% autoescape true %}{% endautoescape %}", "tag autoescape"},
      {"{% for x in y recursive %}{% endfor %}", "recursive loop"},
      {"{% macro m() %}{{ caller() }}{% endmacro %}", "caller"},
      {"{% macro m() %}{{ varargs }}{% endmacro %}", "varargs"},
      {"{{ f(*a) }}", "arguments from a list"},
      {"{{ 'a'.encode() }}", "attribute encode of str"},
      {"{{ 'a'.zfill(3) }}", "attribute zfill of str"},
      {"{{ [1].append(2) }}", "attribute append of list"},
      {"{{ {}.pop('a') }}", "attribute pop of dict"},
      {"{{ ''.__class__ }}", "attribute __class__"},
      {"{{ cycler('a') }}", "function cycler"},
      {"{{ '%x' % 3 }}", "format %x"},
      {"{{ '{:>3}'.format('a') }}", "format {:>3}"},
      {"{{ 0x10 }}", "a number written as"},
      {"{{ '\\N{DASH}' }}", "an escape"},
      {"{{ naïve }}", "a name with letters"},
      {"{{ ('a' | safe) + 'b' }}", "filter safe"},
      {"{{ strftime_now('%Z') }}", "date format %Z"},
      {"{{ 'Σ'.lower() }}", "a letter whose case"},
      {"{{ [1] | map('from_json') | list }}", "filter from_json"},
      {"{{ [1] | select('unheard_of') | list }}", "test unheard_of"},
      {"{{ range(3) }}", "the text of a range"},
      {"{{ [1] | map('string') }}", "the text of a generator"},
      {"{{ namespace(a=1) }}", "the text of a namespace"},
      {"{% set ns = namespace() %}{% set ns.self = ns %}", "a namespace with namespace"},
  };
  for (const auto& [text, name] : unknown) {
    const std::string message = refusal("\n\n" + text);
    EXPECT_NE(message.find(name), std::string::npos) << text << ": " << message;
    EXPECT_NE(message.find("t, line 3"), std::string::npos) << text << ": " << message;
  }
}

TEST(JinjaTemplate, TheTemplatesOwnRefusalIsTold) {
  EXPECT_NE(refusal("{{ raise_exception('Roles must alternate') }}").find("Roles must alternate"),
            std::string::npos);
}

TEST(JinjaTemplate, TheDateIsGiven) {
  const auto day = Template::parse("{{ strftime_now('%d %b %Y') }}", "t");
  EXPECT_EQ(day.render({}, {}), "26 Jul 2024");
  EXPECT_EQ(day.render({}, *date_from_text("2026-01-02")), "02 Jan 2026");
  for (const char* none :
       {"", "2026-13-01", "2026-02-30", "26-01-01", "2026-1-01", "-226-01-01", "2026-01-01x"})
    EXPECT_FALSE(date_from_text(none)) << none;
}

// Templates are files of strangers: each of these would fill the memory, the stack or the day.
TEST(JinjaTemplate, HostileTemplatesEndSoon) {
  const std::string hostile[] = {
      "{% set ns = namespace(s='x') %}{% for i in range(100000) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
      "{% set ns = namespace(s=[1]) %}{% for i in range(100000) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
      "{% set ns = namespace(s=[1]) %}{% for i in range(100000) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s "
      "}}",
      "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}{% endfor %}{% "
      "endfor %}{% endfor %}",
      "{% for a in range(100000) %}{{ 'x' * 100000 }}{% endfor %}",
      "{{ 'x' * 9223372036854775807 }}",
      "{{ [1, 2] * 9223372036854775807 }}",
      "{{ 'x' | indent(9223372036854775807) }}",
      "{{ [1] | tojson(indent=9223372036854775807) }}",
      "{{ 9223372036854775807 + 1 }}",
      "{{ 9223372036854775807 * 9223372036854775807 }}",
      "{{ (-9223372036854775807 - 1) // -1 }}",
      "{{ -(-9223372036854775807 - 1) }}",
      "{{ 10 ** 100 }}",
      "{{ 99999999999999999999 }}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% macro m(x) %}{% for i in range(9) %}{{ m(x + 'aaaaaaaa') }}{% endfor %}{% endmacro %}{{ m('a') }}",
      "{{ " + repeat("[", 100000),
      "{{ " + repeat("(", 100000) + "1" + repeat(")", 100000) + " }}",
      "{{ 1" + repeat(" + 1", 400000) + " }}",
      "{{ x" + repeat(".a", 400000) + " }}",
      "{{ x" + repeat("|trim", 400000) + " }}",
      "{{ " + repeat("not ", 400000) + "1 }}",
      "{{ " + repeat("-", 400000) + "1 }}",
      "{{ a" + repeat(" if a else a", 400000) + " }}",
      repeat("{% if 1 %}", 400000),
      repeat("{% for a in b %}", 400000),
      "{% for " + repeat("(", 400000) + "a",
      "{{ 'a' | replace('', 'x' * 100000) | replace('', 'x' * 100000) }}",
      "{% set s = 'a' * 2000000 %}{% for i in range(1000) %}{{ s.rfind('a' * 1000000 + 'b') }}{% endfor %}",
  };
  for (const std::string& text : hostile) {
    SCOPED_TRACE(text.substr(0, 80));
    EXPECT_FALSE(refusal(text).empty());
  }
}

TEST(JinjaTemplate, ATemplateThatIsTooLongOrNoTextIsRefused) {
  EXPECT_NE(refusal(repeat("a", (1 << 20) + 1)).find("at most"), std::string::npos);
  EXPECT_NE(refusal("a\xFF").find("UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace buoy::text::jinja
