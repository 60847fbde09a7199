"""The page of the family's results has the numbers of its table. Needs no torch: python3 -m unittest test_results_page"""

import unittest
from pathlib import Path

import describe_family

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "studies/family/claim_quantities.csv.gz"
PAGE = ROOT / "docs/results/2026-11-18-family.md"


class ResultsPage(unittest.TestCase):
    # The effects are compared by tests/claims/family_test.cc: their intervals are computed in C++.
    def test_means_and_spreads_are_those_of_the_table(self):
        numbers, names = describe_family.numbers_of(TABLE)
        expected = describe_family.means_lines(numbers, names, describe_family.shown_of(numbers))
        page = PAGE.read_text().splitlines()
        begin = page.index("| quantity | " + " | ".join(describe_family.ARMS) + " |") + 2
        self.assertGreater(len(expected), 50)
        for i, cells in enumerate(expected):
            self.assertEqual(page[begin + i], "| " + " | ".join(cells) + " |")
        self.assertEqual(page[begin + len(expected)], "", "lines that the table does not give")


if __name__ == "__main__":
    unittest.main()
