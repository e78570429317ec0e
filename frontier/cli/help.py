"""Help as a manual page has it: description, options, examples, files, exit codes, see also.

The contents of the sections are data of a command, so that tests can read them. Everything is
wrapped to the width of the terminal, examples too.
"""

import re
from collections import UserDict
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from textwrap import indent, wrap

import click

from frontier.signals import leaving_at_once

EXIT_CODES = {
    "0": "done",
    "1": "failed",
    "2": "bad input",
    "3": "stopped, or refused by the system; the same command goes on",
    "4": "corrupt data",
}

NONE: Mapping[str, str] = {}


class Manual:
    """The sections of a manual page, which a command or a group has.

    examples: command line, without the program's name -> what it does.
    files: what is read or written -> what it holds.
    exit_codes: of a command, those that say more than the program's own -> what they say.
    see_also: names of other commands, and pages.
    """

    def __init__(
        self, *arguments, examples=NONE, files=NONE, exit_codes=NONE, see_also=(), **settings
    ):
        super().__init__(*arguments, **settings)
        self.examples, self.files = examples, files
        self.exit_codes, self.see_also = exit_codes, see_also

    def format_epilog(self, ctx, formatter):
        with formatter.section("Examples"):
            program, margin = ctx.find_root().info_name, " " * formatter.current_indent
            for line, what in self.examples.items():
                typed = _broken(f"{program} {line}", formatter.width - len(margin))
                formatter.write(indent(typed, margin) + "\n")
                with formatter.indentation(), formatter.indentation():
                    formatter.write_text(what)
        for title, entries in (("Files", self.files), ("Exit codes", self.exit_codes)):
            if entries:
                with formatter.section(title):
                    formatter.write_dl(list(entries.items()))
        if self.see_also:
            with formatter.section("See also"):
                formatter.write_text(", ".join(self.see_also))


class Command(Manual, click.Command):
    """A command that has a manual page."""


command = partial(click.command, cls=Command)


class Commands(UserDict):
    """The commands by name. Its data are the names of their modules: each module is imported when
    its command is asked for, as no command needs what the others do."""

    def __getitem__(self, name: str) -> click.Command:
        with leaving_at_once():
            return getattr(import_module(self.data[name]), name.replace("-", "_"))


class Group(Manual, click.Group):
    """A group that lists its commands by section, in the order in which one uses them.

    sections: title -> name of a command -> the module that has it.
    """

    def __init__(self, *arguments, sections: Mapping[str, Mapping[str, str]], **settings):
        super().__init__(*arguments, exit_codes=EXIT_CODES, **settings)
        self.sections, self.commands = sections, Commands()
        for modules in sections.values():
            self.commands.update(modules)

    def list_commands(self, ctx):
        return list(self.commands)

    def format_commands(self, ctx, formatter):
        longest = max(map(len, self.commands))
        for title, names in self.sections.items():
            rows = [(n.ljust(longest), self.commands[n].get_short_help_str(200)) for n in names]
            with formatter.section(title):
                formatter.write_dl(rows)


def _broken(line: str, width: int) -> str:
    r"""A command line in lines of at most `width`, where its words allow; all but the last end in
    a backslash. Quoted words, and options with their values, are not broken."""
    kept = re.sub(r"""(["']).*?\1|-\S+ (?!-)""", lambda found: found[0].replace(" ", "\0"), line)
    lines = wrap(kept, width - 2, subsequent_indent="    ", break_long_words=False,
                 break_on_hyphens=False)  # fmt: skip
    return " \\\n".join(lines).replace("\0", " ")
