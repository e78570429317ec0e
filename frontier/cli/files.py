"""The files that options name: whether they may be written, and how."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from frontier.cli.common import PlaceName
from frontier.cli.streams import echo, echo_bytes
from frontier.errors import InputError, path_error
from frontier.storage.local import FileWriter

OR_OUTPUT = "; - means standard output."
"""The end of the help of an option whose file may be standard output."""

force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")


def file_option(names: str, help: str, *suffixes: str):
    """Return an option that names a file to write and may be repeated; the command gets a list of
    `Target`.

    suffixes: the endings that the file's name may have; any if none are given.
    """

    def targets(context, parameter, paths: Sequence[str]) -> "list[Target]":
        return [Target(parameter.opts[0], Path(path), suffixes) for path in paths]

    metavar = f"FILE{suffixes[0]}" if len(suffixes) == 1 else "FILE"
    return click.option(
        *names.split(),
        type=PlaceName(),
        multiple=True,
        callback=targets,
        metavar=metavar,
        help=help,
    )


@dataclass(frozen=True)
class Target:
    """A file that an option names; "-" is standard output.

    suffixes: see `file_option`. makes_folder: True to make its directory if there is none.
    """

    option: str
    path: Path
    suffixes: Sequence[str] = ()
    makes_folder: bool = False

    @property
    def place(self) -> Path:
        """The place of the file after all links are followed, so that writing keeps the links."""
        return Path(os.path.realpath(self.path))

    @property
    def label(self) -> str:
        return f"{self.option} {self.path}"

    def write(self, content: str | bytes) -> None:
        """Write the file, whole or not at all, and say so. Text ends with a newline."""
        if isinstance(content, str):
            content = (content.removesuffix("\n") + "\n").encode()
        self.write_chunks([content])

    def write_chunks(self, chunks: Iterable[bytes]) -> None:
        """Write the file chunk by chunk, whole or not at all, and say so."""
        if str(self.path) == "-":
            for chunk in chunks:
                echo_bytes(chunk)
            return
        with self._writing():
            if self.makes_folder:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            writer = FileWriter(self.place)
        with writer:
            for chunk in chunks:  # errors in making a chunk are not errors of the file
                with self._writing():
                    writer.write(chunk)
            with self._writing():
                writer.finish(durable=False)
        echo(f"wrote {self.path}", err=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Replace system errors with errors that name the file."""
        try:
            yield
        except OSError as error:
            message = f"{self.label} cannot be written: {error.strerror}"
            raise path_error(message, error) from None

    def problem(self, force: bool) -> str | None:
        """Return why the file cannot or must not be written; None if it may be written."""
        from frontier.layers.run import LayerRun  # importing it takes longer than `init` does

        path, folders = self.path, self.place.parents
        if self.suffixes and path.suffix not in self.suffixes:
            *most, last = self.suffixes
            either = f"{', '.join(most)} or {last}" if most else last
            return f": expected a name that ends in {either}"
        if str(path) == "-":
            return None
        if path.is_dir():
            return " is a directory; name a file"
        if path.exists() and not path.is_file():
            return " exists and is not a regular file; name another file"
        if self.makes_folder:
            existing = next(folder for folder in folders if folder.exists())
            if not existing.is_dir():
                return f": {existing} is not a directory; choose another place"
        elif not folders[0].is_dir():
            missing = folders[0] if path.is_symlink() else path.parent
            return f": there is no directory {missing}; create it first"
        if any(map(LayerRun.exists, folders)):
            return " is in a run directory, which may hold only its run; choose another place"
        if path.exists() and not force:
            return " already exists; name another file, or pass --force"
        return None


def write_drawing(target: Target, svg: str) -> None:
    """Write a drawing as SVG or as PNG, according to the suffix."""
    if target.path.suffix == ".png":
        from frontier.report.boards.png import png_of  # matplotlib is slow to import

        target.write(png_of(svg))
    else:
        target.write(svg)


def check_targets(targets: Iterable[Target], force: bool, as_json: bool = False) -> None:
    """Raise InputError, before any file is written, if one of them cannot or must not be written.

    as_json: standard output is for JSON.
    """
    targets = list(targets)
    places = [target.place for target in targets]
    for target in targets:
        problem = target.problem(force)
        if places.count(target.place) > 1:
            problem = ": another option names the same file; name different files"
        if as_json and str(target.path) == "-":
            problem = ": --json uses standard output; name a file"
        if problem:
            raise InputError(f"{target.label}{problem}")
