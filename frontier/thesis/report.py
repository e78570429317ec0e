"""The thesis's claims and what goes beyond them, as JSON, as text and as Markdown."""

from dataclasses import asdict
from platform import python_version

from frontier.search.environment import versions
from frontier.thesis import claims
from frontier.thesis.runs import Runs
from frontier.thesis.tables import TABLES, Beyond, Row

UPPER = ("sharp", "mixed", "recursion")
"""Upper bounds, in the order in which they are shown."""


def thesis_value(tables: dict[str, list[Row]], beyond: Beyond | None, runs: Runs) -> dict:
    """Everything as one JSON object."""
    value = {
        "made_with": made_with(),
        "tables": {
            name: [{**asdict(row), "verdict": row.verdict} for row in rows]
            for name, rows in tables.items()
        },
        "slips": [
            {"table": name, **asdict(row)}
            for name, rows in tables.items()
            for row in rows
            if row.verdict == "slip"
        ],
        "remarks": claims.REMARKS if "moves" in tables else [],
        "runs": [asdict(depths) for depths in runs.used],
    }
    return value if beyond is None else {**value, "beyond": asdict(beyond)}


def made_with() -> dict[str, str]:
    """The versions of what the results were made with."""
    return {"python": python_version(), **versions()}


def describe_thesis(tables: dict[str, list[Row]], beyond: Beyond | None) -> str:
    """The same for a person, in Markdown."""
    lines = []
    for name, rows in tables.items():
        title = TABLES[name].__doc__.strip()
        lines += [f"## {title}", "", "| claim | thesis | computed | |", "| --- | --- | --- | --- |"]
        for row in rows:
            mark = f"**slip**: {row.note}" if row.verdict == "slip" else row.verdict
            computed = "–" if row.computed is None else row.computed
            lines.append(f"| {row.claim} | {row.said} | {computed} | {mark} |")
        lines.append("")
    found = [row.verdict for rows in tables.values() for row in rows]
    if found:
        lines += [
            f"{len(found)} claims: {found.count('agrees')} agree, {found.count('slip')} are slips "
            f"of the thesis, {found.count('differs')} differ, {found.count('no run')} have no run.",
            *(claims.REMARKS if "moves" in tables else []),
        ]
    if beyond:
        lines += ["", *_describe_beyond(beyond)]
    made = ", ".join(f"{name} {number}" for name, number in made_with().items())
    lines += ["", f"Made with {made}."]
    return "\n".join(lines)


def _describe_beyond(beyond: Beyond) -> list[str]:
    ks = sorted(k for k, depths in beyond.depths.items() if depths)
    ns = sorted({n for k in ks for n in beyond.depths[k]})
    shown = [n for n in ns if n <= 20 or n % 10 == 0]
    lines = [
        "## Beyond: the greatest distance of the pattern of k columns",
        "",
        "| n | " + " | ".join(f"k = {k}" for k in ks) + " |",
        "| --- |" + " --- |" * len(ks),
    ]
    for n in shown:
        cells = [str(beyond.depths[k].get(n, "")) for k in ks]
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    lines += ["", "Formulas they appear to follow:", ""]
    lines += [f"* k = {k}: {formula}" for k, formula in beyond.formulas.items()]
    lines += [
        "",
        "## Beyond: bounds of God's number of 2×n",
        "",
        "| n | lower | by | sharp upper | best mix | thesis's recursion | steps of the sharp one |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for n, sorts in beyond.bounds.items():
        low, sharp = sorts["lower"], sorts["sharp"]
        upper = [sorts[name].value if sorts[name] else "–" for name in UPPER]
        cells = [n, low.value, *low.steps, *upper, ", ".join(sharp.steps) if sharp else "–"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    sources = (
        "2n² - n: B. Whitmore, OEIS A151943; proved in frontier/thesis/inversions.py. Two halves: "
        "the greatest sum of two additive pattern databases; proved in frontier/thesis/halves.py."
    )
    return [*lines, "", sources]
