"""The time, place and versions of a run of any kind, for its report."""

import json
import time
from contextlib import suppress

from frontier.runs.environment import read_starts
from frontier.runs.stored_run import StoredRun
from frontier.storage.base import Storage
from frontier.text import counted, size


def starts_of(storage: Storage) -> tuple[dict, ...]:
    """Return the starts of the run in a storage, in the form of `read_starts`; empty if they cannot
    be read."""
    with suppress(OSError):
        return tuple(read_starts(storage))
    return ()


class Origin:
    """The origin of a run.

    starts: the environment of each start of the run (`frontier.runs.environment`); empty if it is
    lost.
    """

    run: StoredRun
    starts: tuple[dict, ...]

    @property
    def origin(self) -> list[tuple[str, str]]:
        """When the run began, and the place and the versions of its last start."""
        created = time.gmtime(self.run.identity["created"])
        begun = ("begun", time.strftime("%Y-%m-%d", created))
        if not self.starts:
            return [begun, ("environment", "unknown: its file is missing or damaged")]
        last, times = self.starts[-1], len(self.starts)
        cluster = last["config"]["cluster"]
        workers = f", {counted(cluster['workers'], 'worker')} of {size(cluster['memory'])}"
        facts = {
            "started": f"{times} times; details of the last start follow" if times > 1 else "",
            "processor": f"{last['processor']}, {counted(last['cores'], 'core')}",
            "memory": size(last["memory"]),
            "platform": last["platform"],
            "cluster": cluster["kind"] + ("" if cluster["kind"] == "serial" else workers),
            "Python": last["python"],
            "libraries": ", ".join(f"{name} {number}" for name, number in last["versions"].items()),
        }
        return [begun, *(fact for fact in facts.items() if fact[1])]

    @property
    def config_text(self) -> str:
        """The config that repeats the run, as TOML, without its directory and its hosts."""
        identity = self.run.identity
        tables_known = {"puzzle": identity["puzzle"]}
        for table, key in (("search", "keep"), ("store", "codec")):
            if key in identity:  # a search by cosets has neither
                tables_known[table] = {key: identity[key]}
        tables = self.starts[-1]["config"] if self.starts else tables_known
        lines = [f"name = {_toml(identity['name'])}"]
        for table, values in tables.items():
            keys = sorted(values, key="kind".__ne__)  # the kind first, the others in their order
            lines += ["", f"[{table}]", *(f"{key} = {_toml(values[key])}" for key in keys)]
        return "\n".join(lines)


def _toml(value) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_toml(of)}" for key, of in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str) and "\n" in value.strip() and "'''" not in value:
        return f"'''\n{value}'''"
    return json.dumps(value, ensure_ascii=False)
