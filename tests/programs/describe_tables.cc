// Writes docs/tables.md.

#include <cstdio>

#include "buoy/analysis/core/all_tables.h"

int main() {
  std::fputs(buoy::schema::describe_tables().c_str(), stdout);
}
