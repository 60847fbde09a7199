// Writes the table of docs/models.md.

#include <cstdio>

#include "buoy/model/family_table.h"

int main() {
  std::fputs(buoy::model::describe_families().c_str(), stdout);
}
