#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace buoy {

// How tables are declared. Every table and column that analyses, evaluations and claims write or read is
// declared once, in result/schema/: producers build tables from these objects, readers ask for them, and a
// name typed as a string does not compile. docs/tables.md lists them; a test keeps the two in step.

enum class Source { kAnalysis, kEvaluation, kClaims, kStudy, kTerminal };

// Who makes a table.
struct Producer {
  Source source;
  std::string_view name;     // "absorption": as in `buoy analyze absorption`
  std::string_view title;    // "Absorption"
  std::string_view observe;  // the value of `observe` that a trace must be made with; "": none
  std::string_view data;     // what else a trace must hold: " and data with passages"
};

class TableSchema;

// Axes tell the rows of a table apart, values are what it says of them.
enum class Role { kAxis, kValue };

struct ColumnText {
  std::string_view name;     // snake_case: what programs read
  std::string_view unit;     // "share of 1", "layer"; "name": one of a few words; "text": any words
  std::string_view meaning;  // one line for people
};

// A name put together at compile time.
class ColumnName {
 public:
  constexpr ColumnName(std::string_view stem, std::string_view end) {
    for (const auto part : {stem, end}) {
      for (const char c : part) text_.at(size_++) = c;
    }
  }
  constexpr std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 40> text_{};
  std::size_t size_ = 0;
};

// A declared column. Its objects are members of their table, which is told of them in that order.
class ColumnSchema {
 public:
  ColumnSchema(const ColumnSchema&) = delete;
  ColumnSchema& operator=(const ColumnSchema&) = delete;

  constexpr std::string_view name() const { return name_.view(); }
  constexpr std::string_view unit() const { return unit_; }
  constexpr std::string_view meaning() const { return meaning_; }
  constexpr Role role() const { return role_; }
  // nullptr for columns that any table may have.
  constexpr const TableSchema* table() const { return table_; }

 protected:
  constexpr ColumnSchema(TableSchema* table, const ColumnName& name, const ColumnText& text, Role role);

 private:
  ColumnName name_;
  std::string_view unit_, meaning_;
  Role role_;
  const TableSchema* table_;
};

// What a table needs besides what its producer does.
struct TableNeeds {
  std::string_view observe = "";   // more observables: without them it has no rows
  std::string_view question = "";  // of an evaluation: the call of `buoy eval` that gives it rows
};

struct TableText {
  const Producer& producer;
  std::string_view name;   // snake_case; also the name of its file
  std::string_view title;  // one line for people
  TableNeeds needs = {};
};

class TableSchema {
 public:
  TableSchema(const TableSchema&) = delete;
  TableSchema& operator=(const TableSchema&) = delete;

  constexpr const Producer& producer() const { return text_.producer; }
  constexpr std::string_view name() const { return text_.name; }
  constexpr std::string_view title() const { return text_.title; }
  constexpr const TableNeeds& needs() const { return text_.needs; }
  constexpr std::span<const ColumnSchema* const> columns() const { return {columns_.data(), count_}; }

 protected:
  constexpr explicit TableSchema(const TableText& text) : text_(text) {}

 private:
  friend class ColumnSchema;
  TableText text_;
  std::array<const ColumnSchema*, 64> columns_{};
  std::size_t count_ = 0;
};

constexpr ColumnSchema::ColumnSchema(TableSchema* table, const ColumnName& name, const ColumnText& text,
                                     Role role)
    : name_(name), unit_(text.unit), meaning_(text.meaning), role_(role), table_(table) {
  if (table != nullptr) table->columns_.at(table->count_++) = this;
}

class Axis : public ColumnSchema {
 public:
  constexpr Axis(TableSchema& table, const ColumnText& text)
      : ColumnSchema(&table, {text.name, ""}, text, Role::kAxis) {}
  // Of no table.
  constexpr explicit Axis(const ColumnText& text)
      : ColumnSchema(nullptr, {text.name, ""}, text, Role::kAxis) {}
};

class Value : public ColumnSchema {
 public:
  constexpr Value(TableSchema& table, const ColumnText& text)
      : ColumnSchema(&table, {text.name, ""}, text, Role::kValue) {}

 protected:
  constexpr Value(TableSchema& table, const ColumnName& name, const ColumnText& text)
      : ColumnSchema(&table, name, text, Role::kValue) {}
  friend class Interval;
};

// What the ends of an interval are called and mean.
struct Ends {
  std::string_view lower, upper;
  std::string_view stem = "";  // "gain": gain_lower, gain_upper; "": lower, upper
};

// A value with its interval: three columns. The object itself is the column of the value.
class Interval : public Value {
 public:
  constexpr Interval(TableSchema& table, const ColumnText& text, const Ends& ends)
      : Value(table, text),
        lower(table, {ends.stem, ends.stem.empty() ? "lower" : "_lower"}, {"", text.unit, ends.lower}),
        upper(table, {ends.stem, ends.stem.empty() ? "upper" : "_upper"}, {"", text.unit, ends.upper}) {}

  Value lower, upper;
};

// An interval whose ends bear the name of the value: mass, mass_lower, mass_upper.
class NamedInterval : public Interval {
 public:
  constexpr NamedInterval(TableSchema& table, const ColumnText& text, const Ends& ends)
      : Interval(table, text, {ends.lower, ends.upper, text.name}) {}
};

}  // namespace buoy
