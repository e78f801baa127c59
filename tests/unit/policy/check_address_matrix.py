"""Checks the classes of the matrix with the standard library alone: `python check_address_matrix.py ROOT MATRIX`."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def differences(root: str, matrix: str) -> list[str]:
    """One line for each address of the matrix that policy classifies in another way."""
    sys.path.insert(0, root)
    from policy.address import classify_text

    lines = []
    for row in json.loads(Path(matrix).read_text(encoding="utf-8")):
        place = classify_text(row["address"])
        if (place.name, place.columns, place.never) != (row["name"], row["columns"], row["never"]):
            lines.append(f"{row['address']}: {place}")
    return lines


if __name__ == "__main__":
    found = differences(*sys.argv[1:])
    sys.stdout.write("".join(f"{line}\n" for line in found) or "matrix holds\n")
    sys.exit(1 if found else 0)
