"""The pages of the site that are not files of docs/, and links that lead there.

A hook of MkDocs. README.md is the first page; CONTRIBUTING.md and CHANGELOG.md are pages too. Each
command has a page made from its help, and every public name is in the reference, where mkdocstrings
puts its docstring.
"""

import posixpath
import re
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import click
from mkdocs.structure.files import File

import frontier
from frontier.cli import main

ROOT = Path(__file__).parents[2]

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "CITATION.cff": "CITATION.cff",
}
"""Files of the repository outside docs/ that are pages of the site."""

SOURCES = {page: source for source, page in PAGES.items()}
DRAWING = "frontier.report.boards"
DRAWN = "board_svg", "film_strip", "film_page"
"""The module that draws boards, and its functions in the reference."""

LINK = re.compile(r"(?<=\]\()([^)#\s]+)(?=[)#])")
SPECIAL = re.compile(r"(`[^`]*`)|([\\*_<>\[\]|])")


def on_config(config):
    """Put the commands into the navigation."""
    reference = next(part["Reference"] for part in config.nav if "Reference" in part)
    commands = next(part for part in reference if "Each command" in part)
    commands["Each command"] = ["commands/index.md", *map(page_of, main.commands)]
    return config


def on_files(files, config):
    """Add the generated pages, and those from outside docs/."""
    made = {page: (ROOT / name).read_text(encoding="utf-8") for name, page in PAGES.items()}
    made |= {page_of(name): command_page(main.commands[name]) for name in main.commands}
    made |= {"commands/index.md": commands_page(), "reference/api.md": reference_page()}
    made["index.md"] = f"---\nhide: [navigation]\n---\n\n{made['index.md']}"
    made["assets/site.css"] = Path(__file__).with_name("site.css").read_text(encoding="utf-8")
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Turn links of the repository into links of the site."""
    here = page.file.src_uri
    return moved_links(markdown, SOURCES.get(here, f"docs/{here}"), here)


def moved_links(text: str, source: str, page: str) -> str:
    """Return the Markdown of a file of the repository as a page of the site."""

    def moved(link):
        if "://" in link[0]:
            return link[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[0]))
        target = PAGES.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(page) or ".")

    return LINK.sub(moved, text)


def page_of(command: str) -> str:
    return f"commands/{command}.md"


def plain(text: str) -> str:
    """Return text as Markdown that shows it as it is; text between backticks stays code."""
    return SPECIAL.sub(lambda found: found[1] or "\\" + found[2], text)


def code(text: str) -> str:
    """Return text as code in a table cell."""
    return f"<code>{text.replace('&', '&amp;').replace('<', '&lt;').replace('|', '&#124;')}</code>"


def command_page(command: click.Command) -> str:
    """Return the page of a command: its help."""
    context = command.make_context(command.name, [], resilient_parsing=True)
    usage = " ".join(["frontier", command.name, *command.collect_usage_pieces(context)])
    options = (of for of in command.get_params(context) if of.param_type_name == "option")
    rows = (
        f"| {code(name)} | {plain(what)} |"
        for name, what in (option.get_help_record(context) for option in options)
    )
    examples = dedent(command.epilog.partition("Examples:\n")[2])
    parts = [
        f"# {command.name}",
        *(plain(" ".join(part.split())) for part in _paragraphs(command)),
        f"```text\n{usage}\n```",
        "## Options",
        "\n".join(["| | |", "| --- | --- |", *rows]),
        f"## Examples\n\n```sh\n{examples}```",
        "[Exit codes](../reference/commands.md#exit-codes)",
    ]
    return "\n\n".join(parts) + "\n"


def _paragraphs(command: click.Command) -> list[str]:
    return re.split(r"\n\s*\n", command.help.strip())


def commands_page() -> str:
    """Return the list of all commands."""
    rows = (
        f"| [{name}]({name}.md) | {plain(command.get_short_help_str(200))} |"
        for name, command in main.commands.items()
    )
    return "\n\n".join([
        "# Commands",
        "`frontier COMMAND --help` shows these pages in a terminal.",
        "\n".join(["| | |", "| --- | --- |", *rows]),
    ]) + "\n"  # fmt: skip


def reference_page() -> str:
    """Return the reference of Python: a heading and a directive for each public name."""
    public = [name for name in frontier.__all__ if name != "errors"]
    objects = {name: getattr(frontier, name) for name in public}
    paths = {name: f"{of.__module__}.{of.__qualname__}" for name, of in objects.items()}
    drawing = import_module(DRAWING)
    sections = {
        "Functions": {name: paths[name] for name in public if name[0].islower()},
        "Classes": {name: paths[name] for name in public if name[0].isupper()},
        "Drawings": {name: f"{getattr(drawing, name).__module__}.{name}" for name in DRAWN},
        "Events": {
            **_members("frontier.runs.events"),
            **_members("frontier.layers.events"),
            "Asking": "frontier.cosets.progress.Asking",
        },
        "Errors": _members("frontier.errors"),
    }
    parts = [
        "# Reference",
        "Every name of `import frontier`, the functions that draw boards, the events that "
        "listeners of `run` are called with, and the errors. [In Python](python.md) shows how "
        "they are used.",
    ]
    imported_from = {"Functions": "frontier.", "Classes": "frontier.", "Drawings": f"{DRAWING}."}
    for title, names in sections.items():
        parts.append(f"## {title}")
        for name, path in names.items():
            label = imported_from.get(title, "") + name
            options = f"      heading: {label}\n      toc_label: {name}"
            if title == "Classes":
                options += "\n      show_if_no_docstring: true"
            parts.append(f"::: {path}\n    options:\n{options}")
    return "\n\n".join(parts) + "\n"


def _members(module: str) -> dict[str, str]:
    """Return the public classes that a module defines, each with its path."""
    found = vars(import_module(module)).items()
    classes = (name for name, of in found if getattr(of, "__module__", "") == module)
    return {name: f"{module}.{name}" for name in classes if name[0].isupper()}
