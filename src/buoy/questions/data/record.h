#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "buoy/base/file/json_file.h"
#include "buoy/questions/data/field_names.h"
#include "buoy/questions/item.h"

namespace buoy::questions {

// One line of a data set as an item; the id as the record has it, empty when it has none. InputError at
// `where` ("data.jsonl:12") and field: no question, no answer, fields of another type.
// A ready prompt may stand for a question. Unless `require_answers`, an item may lack answers.
struct RecordRules {
  const FieldNames& names;
  bool require_answers = true;
};
Item item_from_record(const Json& record, const RecordRules& rules, const std::string& where);

}  // namespace buoy::questions
