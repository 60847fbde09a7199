"""How the tokenizers split texts of the world: every piece is one token."""

import re

PIECES = re.compile(r" ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")
