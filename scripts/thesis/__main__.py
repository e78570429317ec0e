"""Reproduce a thesis on the 2×n puzzle, claim by claim, and go beyond it.

    python scripts/thesis  # all tables; first makes missing small runs in runs/
    python scripts/thesis --table 5.2
    python scripts/thesis --table beyond --limit 20000000000

For each number of the thesis (R. Sato, 2021), the tables show what it says, what is computed here,
and whether the two agree. The computed numbers come from exhaustive runs in --runs; the script
makes small runs that are missing there. For boards that are too large, they come from results of
`gods-number` in --runs. "beyond" combines all runs there: the patterns of k columns, and lower and
upper bounds on God's numbers.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).parents[1]))  # of this package

from frontier.errors import FrontierError, Stopped
from frontier.storage.local import write_bytes
from thesis.comparison import TABLES, beyond
from thesis.report import describe_thesis, thesis_value
from thesis.runs import ThesisRuns


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python scripts/thesis", description=(__doc__ or "").splitlines()[0]
    )
    add = parser.add_argument
    add("--table", dest="names", action="append", choices=[*TABLES, "beyond"],
        help="print only this table; may be repeated; default: all of the thesis")  # fmt: skip
    add("--runs", type=Path, default=Path("runs"), metavar="DIR", help="where runs are or go")
    add("--limit", type=int, default=300_000_000, metavar="STATES",
        help="make missing runs of at most this many states; default: %(default)s")  # fmt: skip
    add("--columns", type=int, default=12, metavar="N",
        help='with "beyond": make no run of more than N columns, except the runs of the thesis; '
        "default: %(default)s")  # fmt: skip
    add("--memory", metavar="SIZE", help="memory of each worker of these runs, such as 4GB")
    add("--write", type=Path, metavar="DIR", help="write thesis.md and thesis.json in a directory")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    names = chosen.names or TABLES
    runs = ThesisRuns(chosen.runs, chosen.limit, say=_say, memory=chosen.memory)
    try:
        tables = {name: list(TABLES[name](runs)) for name in names if name in TABLES}
        runs.most = chosen.columns
        more = beyond(runs) if "beyond" in names else None
    except KeyboardInterrupt:
        _end(Stopped("interrupted; the same command resumes the current run"))
    except FrontierError as error:
        _end(error)
    value = thesis_value(tables, more, runs)
    text = describe_thesis(value).rstrip()
    if chosen.write:
        chosen.write.mkdir(parents=True, exist_ok=True)
        write_bytes(chosen.write / "thesis.md", f"{text}\n".encode())
        content = json.dumps(value, indent=1, ensure_ascii=False)
        write_bytes(chosen.write / "thesis.json", f"{content}\n".encode())
    print(text)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _end(error: FrontierError) -> NoReturn:
    _say(str(error))
    sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
