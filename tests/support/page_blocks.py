"""A page as its reader goes through it: blocks in order, commands in them, what these print.

A page is a Markdown file. Three habits give its blocks a meaning:

* a ``text`` block that follows a ``sh`` block is what the last command of that prints; a line of
  nothing but … stands for any lines;
* a ``toml`` block after a line that ends in "`NAME.toml`:" is that file;
* in a ``python`` block, a literal in a comment behind an expression is its value.
"""

import ast
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
FILE = re.compile(r"`([\w.-]+\.(?:toml|py))`:$")
ANY_LINES = "…"


@dataclass(frozen=True)
class Block:
    """A fenced block. file: what the reader is to save it as. output: what it is to print."""

    language: str
    text: str
    file: str | None = None
    output: str | None = None


def pages() -> list[Path]:
    """README, and all of docs/ but the pages that have tests of their own."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in found if path.name not in ("python.md", "notebook.md")]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page in order; those that show output are part of the block before."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    matches = list(FENCE.finditer(text))
    for number, match in enumerate(matches):
        before = text[matches[number - 1].end() if number else 0 : match.start()]
        language, content = match.groups()
        if language == "text" and found and found[-1].language == "sh" and "\n#" not in before:
            found[-1] = Block("sh", found[-1].text, output=content)
            continue
        file = FILE.search(before.rstrip())
        found.append(Block(language, content, file.group(1) if file else None))
    return found


def inline_of(page: Path) -> list[str]:
    """What stands between single backticks, as one line each."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [re.sub(r"\s+", " ", part) for part in INLINE.findall(text)]


def statements(text: str) -> list[str]:
    """The statements of a shell block: lines, continued ones joined, loops as one."""
    lines = re.sub(r"\s*\\\n\s*", " ", text).splitlines()
    found, depth = [], 0
    for line in lines:
        line = re.sub(r"\s+# .*", "", line).strip()
        if not line or line.startswith("#"):
            continue
        found[-1:] = [f"{found[-1]}\n{line}"] if depth else [*found[-1:], line]
        depth += line.startswith(("while ", "for ", "if ")) - (line in ("done", "fi"))
    return found


def arguments_of(statement: str) -> list[str] | None:
    """The arguments of one plain `frontier` command; None where it is something else."""
    try:
        words = list(shlex.shlex(statement, posix=True, punctuation_chars=True))
        plain = shlex.split(statement)
    except ValueError:
        return None
    if any(set(word) <= set("();<>|&") for word in words if word):
        return None
    for start in (["python", "-m", "frontier"], ["frontier"]):
        if plain[: len(start)] == start:
            return plain[len(start) :]
    return None


def values_of(code: str) -> list[tuple[str, object]]:
    """(expression, value) of each line of Python that says in a comment what it gives."""
    found = []
    for line in code.splitlines():
        expression, mark, comment = line.partition("  # ")
        try:
            value = ast.literal_eval(comment)
            ast.parse(expression, mode="eval")
        except (SyntaxError, ValueError):
            continue
        if mark:
            found.append((expression, value))
    return found


_TIME = r"\d[\d,.]* (?:µs|ms|s|min|h|d|days?)\b"
_VAGUE = [
    (r"(?:/[\w.-]+)+/(?=(?:runs/|[\w.-]+\.(?:html|svg|png|csv|md|zarr)\b))", "<folder>/"),
    (r"\d[\d,.]*(?: [kMGTP]?B?| states)?(?:/s| a second)\b", "<rate>"),
    (rf", in all: {_TIME}(?: {_TIME})*", ""),  # a slow or new machine adds it
    (rf"{_TIME}(?: {_TIME})*", "<time>"),
    (r"\d[\d,.]* (?:[kMGTP]?B|bytes?)\b", "<size>"),
    (r"\d+\.\d+\.\d+\S*", "<version>"),
    (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?\S*)?", "<date>"),
    (r"[ \t]+", " "),
]


def vaguely(text: str) -> list[str]:
    """The lines of an output without what differs from machine to machine: times, sizes, paths."""
    for pattern, word in _VAGUE:
        text = re.sub(pattern, word, text)
    return [line.strip() for line in text.strip().splitlines()]


def difference(said: str, printed: str) -> str | None:
    """What a page says differs from what was printed, if it does."""
    wanted, there = vaguely(said), vaguely(printed)
    pattern = "".join(
        r"(?:.*\n)*" if line == ANY_LINES else re.escape(line) + r"\n" for line in wanted
    )
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in there)):
        return None
    return f"the page says\n\n{said}\nbut printed is\n\n{printed}"
