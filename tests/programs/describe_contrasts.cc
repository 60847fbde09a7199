// Writes the table claim_contrasts of networks whose numbers are given, without a study: describe_contrasts
// TABLE.csv... Tables are claim_quantities, all of the same rules and questions.

#include <cstdio>

#include "buoy/claims/contrasts.h"
#include "buoy/claims/siblings.h"
#include "buoy/result/table.h"

int main(int count, char** arguments) {
  std::vector<buoy::claims::NetworkQuantity> numbers;
  for (int i = 1; i < count; ++i) {
    for (auto& stored : buoy::claims::read_quantities(arguments[i]))
      numbers.push_back(std::move(stored.quantity));
  }
  const auto contrasts = buoy::claims::contrasts_of(numbers);
  std::fputs(buoy::to_csv(buoy::claims::contrasts_table(contrasts)).c_str(), stdout);
}
