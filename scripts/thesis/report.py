"""The claims of the thesis and the results beyond them, as JSON and as Markdown."""

from dataclasses import asdict
from pathlib import Path
from platform import python_version

from frontier.report.html import templates
from frontier.runs.environment import versions
from thesis import claims
from thesis.comparison import TABLES, Row
from thesis.runs import ThesisRuns


def thesis_value(tables: dict[str, list[Row]], beyond: dict | None, runs: ThesisRuns) -> dict:
    """Return all results as one JSON object."""
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
    return value if beyond is None else {**value, "beyond": beyond}


def made_with() -> dict[str, str]:
    """Return the versions of Python and of the libraries."""
    return {"python": python_version(), **versions()}


def describe_thesis(value: dict) -> str:
    """Return the value of `thesis_value` as Markdown."""
    titles = {name: (table.__doc__ or "").strip().rstrip(".") for name, table in TABLES.items()}
    depths = value.get("beyond", {"depths": {}})["depths"].values()
    columns = sorted({n for depths_of_k in depths for n in depths_of_k})
    text = Path(__file__).with_name("thesis.md").read_text(encoding="utf-8")
    template = templates().overlay(autoescape=False).from_string(text)
    return template.render(value=value, titles=titles, columns=columns)
