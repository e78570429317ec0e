"""Help as a manual page has it: description, options, examples, files, exit codes, see also.

What belongs to the sections is data of a command, so that tests can read it. Everything is wrapped
to the width of the terminal, examples too.
"""

import re
from collections.abc import Iterable, Mapping
from importlib import import_module

import click

from frontier.signals import leaving_at_once

EXIT_CODES = {
    "0": "done",
    "1": "failed",
    "2": "bad input",
    "3": "stopped, and can be resumed",
    "4": "corrupt data",
}

OPTION_COLUMNS = 20
"""Longer options stand on a line of their own."""

_WORD = r"""(?:[^\s"']|"[^"]*"|'[^']*')+"""
_PART = re.compile(rf"-\S+ (?!-){_WORD}|{_WORD}")
"""A word of a command line, or an option with its value."""


class Command(click.Command):
    """A command with the sections of a manual page.

    examples: command line, without the program's name -> what it does.
    files: what is read or written -> what it holds.
    exit_codes: those that tell more than the program's own (`EXIT_CODES`) -> what they say.
    see_also: names of other commands, and pages.
    """

    def __init__(
        self,
        *arguments,
        examples: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
        exit_codes: Mapping[str, str] | None = None,
        see_also: Iterable[str] = (),
        **settings,
    ):
        super().__init__(*arguments, **settings)
        self.examples, self.files = dict(examples or {}), dict(files or {})
        self.exit_codes, self.see_also = dict(exit_codes or {}), tuple(see_also)

    def format_options(self, ctx, formatter):
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        records = [option.get_help_record(ctx) for option in options]
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record], col_max=OPTION_COLUMNS)

    def format_epilog(self, ctx, formatter):
        program = ctx.find_root().info_name
        if self.examples:
            write_examples(formatter, program, self.examples)
        if self.files:
            with formatter.section("Files"):
                formatter.write_dl(list(self.files.items()))
        if self.exit_codes:
            with formatter.section("Exit codes"):
                formatter.write_dl(list(self.exit_codes.items()))
        if self.see_also:
            with formatter.section("See also"):
                formatter.write_text(", ".join(self.see_also))


class Commands(Mapping[str, click.Command]):
    """Commands by name. The module of one is imported when it is asked for, as none needs what the
    others do."""

    def __init__(self):
        self.modules: dict[str, str] = {}

    def __getitem__(self, name):
        with leaving_at_once():
            return getattr(import_module(self.modules[name]), name)

    def __iter__(self):
        return iter(self.modules)

    def __len__(self):
        return len(self.modules)


class Group(click.Group):
    """A group that lists its commands by section, in the order in which one uses them.

    sections: title -> commands.
    """

    command_class = Command

    def __init__(self, *arguments, examples: Mapping[str, str] | None = None, **settings):
        super().__init__(*arguments, **settings)
        self.examples = dict(examples or {})
        self.sections: dict[str, list[str]] = {}
        self.commands = Commands()

    def add_section(self, title: str, **modules: str) -> None:
        """Name its commands, each with the module that has it."""
        self.sections[title] = list(modules)
        self.commands.modules.update(modules)

    def list_commands(self, ctx):
        return list(self.commands)

    def format_commands(self, ctx, formatter):
        longest = max(map(len, self.commands))
        for title, names in self.sections.items():
            commands = [self.commands[name] for name in names]
            with formatter.section(title):
                formatter.write_dl([(c.name.ljust(longest), _first(c.help)) for c in commands])

    def format_epilog(self, ctx, formatter):
        write_examples(formatter, ctx.find_root().info_name, self.examples)
        with formatter.section("Exit codes"):
            formatter.write_dl(list(EXIT_CODES.items()))


def _first(text: str) -> str:
    """The first paragraph, which says what a command does."""
    return " ".join(text.split("\n\n")[0].split())


def write_examples(
    formatter: click.HelpFormatter, program: str, examples: Mapping[str, str]
) -> None:
    """Each example as it can be typed, and below it what it does."""
    with formatter.section("Examples"):
        for line, what in examples.items():
            for part in _broken(f"{program} {line}", formatter.width - formatter.current_indent):
                formatter.write(f"{'':>{formatter.current_indent}}{part}\n")
            formatter.indent()
            formatter.indent()
            formatter.write_text(what)
            formatter.dedent()
            formatter.dedent()


def _broken(line: str, width: int) -> list[str]:
    r"""A command line in lines of at most `width`, where its words allow; all but the last end in
    a backslash."""
    lines = [""]
    for word in _PART.findall(line):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1].strip() and len(longer) > width - 2:
            lines[-1] += " \\"
            longer = f"    {word}"
        lines[-1:] = [longer] if not lines[-1].endswith("\\") else [lines[-1], longer]
    return lines
