"""How far a measured share may be off."""

import math


def wilson(right, n, z=1.96):
    """95% interval of a proportion."""
    p = right / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return round((middle - half) / (1 + z * z / n), 4), round((middle + half) / (1 + z * z / n), 4)
