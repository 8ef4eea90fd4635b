"""What a spreadsheet program does to a table that was only looked at in it, and saved."""

import re

from .sources import Source

# A cell and what it says, with what has happened to it.
DAMAGE_PATTERNS = {
    r"(?:^|[,;\t\"])(#(?:NAME\?|REF!|VALUE!|DIV/0!|NUM!|NULL!))": "an error of a spreadsheet, where a text began with =, + or -",
    r"(?:^|[,;\t\"])(\d[.,]\d+E\+\d\d+)(?=[,;\t\"]|$)": "a long number rounded by a spreadsheet: an id or a time is lost",
    "(\u00c3[\u0080-\u00bf]|\u00e2\u20ac[\u0080-\u02ff\u2018-\u2122])": "UTF-8 that was opened as Windows-1252 and saved again",
    "(\ufffd)": "a letter that was lost when the file was saved in another encoding",
}


def find_damage(source: Source) -> list[str]:
    """Return a line for each kind of damage, with the first places; nothing where the file is as it was downloaded.

    >>> find_damage(Source("a.csv", b"id,word\\n6.04E+23,cat"))
    ['a.csv, line 2: 6.04E+23: a long number rounded by a spreadsheet: an id or a time is lost; download the file again']
    """
    if source.members:
        return []
    lines = source.text.split("\n")
    faults = []
    for sign, meaning in DAMAGE_PATTERNS.items():
        cells = [(n, match[1]) for n, line in enumerate(lines, start=1) if (match := re.search(sign, line))]
        if cells:
            n, cell = cells[0]
            more = f" (and {len(cells) - 1} more lines)" if len(cells) > 1 else ""
            faults.append(f"{source.name}, line {n}: {cell}: {meaning}{more}; download the file again")
    return faults
