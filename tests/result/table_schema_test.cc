// The declared tables: names typed as strings do not compile, names are unique, docs say the same.

#include "buoy/result/table_schema.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <algorithm>
#include <concepts>
#include <set>

#include "buoy/analysis/core/all_tables.h"
#include "buoy/base/file/files.h"
#include "buoy/result/rule_names.h"
#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/schema/qk.h"
#include "buoy/result/table_advice.h"
#include "buoy/result/table_view.h"

namespace buoy {
namespace {

using Tables = std::span<const Table>;

// What can be asked with a name of type N instead of a declared table or column.
template <typename N>
concept FindsTable = requires(Tables tables, N name) {
  find_table(tables, name);
};
template <typename N>
concept MakesTable = requires(N name) {
  Table(name);
};
template <typename N>
concept AsksTable = requires(const Table& table, N name) {
  table.column(name);
}
|| requires(const Table& table, N name) {
  table.has(name);
}
|| requires(const Table& table, N name) {
  table.is(name);
};
template <typename N>
concept ReadsView = requires(const TableView& view, N name) {
  view.number(name);
}
|| requires(const TableView& view, N name) {
  view.numbers(name);
}
|| requires(const TableView& view, N name) {
  view.text(name);
}
|| requires(const TableView& view, N name) {
  view.texts(name);
}
|| requires(const TableView& view, N name) {
  view.distinct(name);
}
|| requires(const TableView& view, N name) {
  view.has(name);
};
template <typename N>
concept FiltersView = requires(const TableView& view, N name) {
  view.where({{name, "text"}});
};
template <typename N>
concept FillsRow = requires(Table& table, N name) {
  table.add({{name, 1.0}});
};
template <typename N>
concept NamesRule = requires(const TableView& view, N name) {
  sigma_rule(view, name);
};
template <typename N>
concept Compiles = FindsTable<N> || MakesTable<N> || AsksTable<N> || ReadsView<N> || FiltersView<N> ||
    FillsRow<N> || NamesRule<N>;

static_assert(!Compiles<const char*> && !Compiles<const char (&)[6]>);
static_assert(!Compiles<std::string> && !Compiles<std::string_view>);
// The same questions compile with declared objects: the concepts above can be true.
static_assert(FindsTable<const schema::AbsorptionByLayer&> && MakesTable<const schema::AbsorptionByLayer&>);
static_assert(AsksTable<const Axis&> && ReadsView<const Axis&> && FiltersView<const Axis&>);
static_assert(FillsRow<const Value&> && NamesRule<const Interval&>);
static_assert(!std::constructible_from<Axis, const char*> && !std::constructible_from<Value, std::string>);
static_assert(!std::copyable<Axis>, "a column is declared once");

TEST(TableSchema, NamesAreUniqueAndEveryColumnIsExplained) {
  std::set<std::string_view> tables;
  for (const auto* table : schema::all_tables()) {
    EXPECT_TRUE(tables.insert(table->name()).second) << table->name();
    EXPECT_FALSE(table->title().empty()) << table->name();
    std::set<std::string_view> columns;
    bool axis = false;
    for (const auto* column : table->columns()) {
      EXPECT_TRUE(columns.insert(column->name()).second) << table->name() << " " << column->name();
      EXPECT_FALSE(column->unit().empty() || column->meaning().empty())
          << table->name() << " " << column->name();
      EXPECT_EQ(column->table(), table);
      axis |= column->role() == Role::kAxis;
    }
    EXPECT_TRUE(axis) << table->name() << ": nothing tells its rows apart";
  }
}

TEST(TableSchema, SaysHowToGetATable) {
  EXPECT_EQ(how_to_get(schema::absorption_summary),
            "buoy analyze absorption on a trace with `observe` received");
  EXPECT_EQ(how_to_get(schema::qk_depth), "buoy analyze qk on a trace with `observe` received,qk,norms");
  EXPECT_EQ(how_to_get(schema::qk_pairs),
            "buoy analyze qk on a trace with `observe` received,qk,norms,states");
  EXPECT_EQ(how_to_get(schema::eval_middle),
            "buoy eval with `sweep` gold-position=1-10 (or 1-20), and buoy report with `evaluations`");
  EXPECT_EQ(how_to_get(schema::eval_attention),
            "buoy eval with `observe` features, and buoy report with `evaluations`");
}

std::string page(const std::string& name) {
  return read_file(std::filesystem::path(BUOY_TEST_DATA) / ".." / ".." / "docs" / name);
}

TEST(TableSchema, IsWhatTheDocumentationLists) {
  EXPECT_EQ(page("tables.md"), schema::describe_tables())
      << "docs/tables.md is written by `build/dev/bin/describe_tables > docs/tables.md`";
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// The words between single backticks.
std::set<std::string> quoted_names(const std::string& text) {
  std::set<std::string> out;
  for (std::size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at)) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    if (const auto name = text.substr(at + 1, end - at - 1); is_name(name)) out.insert(name);
    at = end + 1;
  }
  return out;
}

TEST(TableSchema, DescriptionsNameEveryTableAndNoOther) {
  const auto analyses = quoted_names(page("analyses.md")), evaluation = quoted_names(page("evaluation.md"));
  std::set<std::string> declared, prefixes;
  for (const auto* table : schema::all_tables()) {
    const std::string name(table->name());
    declared.insert(name);
    prefixes.insert(name.substr(0, name.find('_') + 1));
    if (table->producer().source == Source::kAnalysis) {
      EXPECT_TRUE(analyses.contains(name)) << name;
    }
    if (name.starts_with("eval_")) {
      EXPECT_TRUE(evaluation.contains(name)) << name;
    }
  }
  prefixes.erase("");
  declared.insert("floating_share");  // a quantity of structure_depth
  declared.insert("rollout_layers");  // an option
  for (const auto* names : {&analyses, &evaluation}) {
    for (const auto& name : *names) {
      const bool like_a_table = prefixes.contains(name.substr(0, name.find('_') + 1));
      if (like_a_table) {
        EXPECT_TRUE(declared.contains(name)) << name << " is no table";
      }
    }
  }
}

// "- `absorption_summary`: steps, view (which heads), ..." up to the first full stop.
std::vector<std::string> listed_columns(const std::string& text, const std::string& table) {
  const std::string begin = "\n- `" + table + "`: ";
  const std::size_t at = text.find(begin);
  std::vector<std::string> out;
  if (at == std::string::npos) return out;
  std::string word;
  int depth = 0;
  for (std::size_t i = at + begin.size(); i < text.size(); ++i) {
    const char c = text[i];
    depth += (c == '(') - (c == ')');
    if (depth > 0 || c == ')') continue;
    if (c == ',' || c == '.') out.push_back(std::exchange(word, ""));
    if (c == '.') break;
    if (c != ',' && c != ' ' && c != '\n') word += c;
  }
  return out;
}

TEST(TableSchema, ListsOfColumnsInTheDescriptionsAreTheDeclaredOnes) {
  const std::string text = page("analyses.md");
  int lists = 0;
  for (const auto* table : schema::all_tables()) {
    const auto listed = listed_columns(text, std::string(table->name()));
    if (listed.empty()) continue;
    ++lists;
    std::vector<std::string> declared;
    for (const auto* column : table->columns()) declared.emplace_back(column->name());
    EXPECT_EQ(listed, declared) << table->name();
  }
  EXPECT_GE(lists, 10);
}

}  // namespace
}  // namespace buoy
