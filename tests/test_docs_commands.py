"""Every command and every piece of Python on the pages is run, as on the page and in its order.

A page has one sandbox, so a command finds what those before it made. What cannot be run whole in a
test stands in `INSTEAD`, with what is run in its place; nothing is left out silently. See
`pages` for how a page says what comes out.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from distributed.cli import dask_scheduler, dask_worker

from frontier.cli import main
from frontier.config.loading import checked_config
from frontier.config.schema import ClusterTable
from tests.support.page_blocks import (
    ROOT,
    Block,
    arguments_of,
    blocks_of,
    difference,
    inline_of,
    name_of,
    pages,
    statements,
    values_of,
)

RUN = "frontier run 2x7"
BEGUN = f"{RUN} --set cluster.kind=serial --until 12"
SMALL_THESIS = "python scripts/thesis --table 4.1 --limit 400"
PARSED = "parsed"
"""In place of a run: the program's own parser takes the command."""

INSTEAD = {
    # makes an environment and installs packages: .ci/run does that
    f"python3 -m venv .venv && . .venv/bin/activate && pip install . && python -m {RUN}": BEGUN,
    "python3 -m venv .venv && . .venv/bin/activate && pip install '.[test]' && python -m pytest":
        PARSED,
    "python3 -m venv .venv && . .venv/bin/activate && pip install .": PARSED,
    "cd /shared/you/frontier": PARSED,
    "python3 -m venv .venv && . .venv/bin/activate && pip install '.[jobqueue]'": PARSED,
    # large
    RUN: BEGUN,
    f"{RUN} --set search.in_memory=false --memory 1.5GB":
        f"{BEGUN} --set search.in_memory=false --memory 1.5GB",
    "frontier run 3x4 --workers 4 --memory 2GB":
        "frontier run 3x4 --workers 1 --memory 1GB --until 12",
    "frontier layer runs/2x5-all 30 --sample 1000 --seed 7 > runs/boards.txt":
        "frontier layer runs/2x5-all 30 --sample 20 --seed 7 > runs/boards.txt",
    "frontier plan 3x5 --out /big/3x5":
        "frontier plan 3x5 --out runs/big/3x5",
    "frontier run 2x6 --out /big/2x6":
        "frontier run 2x6 --out runs/big/2x6 --until 12",
    "frontier status /big/2x6": "frontier status runs/big/2x6",
    "frontier run pattern-2x8-k5": PARSED,
    "frontier gods-number 2x8":
        "frontier gods-number 2x4",
    "python scripts/gods_numbers.py": "python scripts/gods_numbers.py --help",
    "python scripts/results.py --runs runs": "python scripts/results.py --runs runs 2x3",
    "python scripts/results.py --runs runs --large":
        "python scripts/results.py --runs runs --large --help",
    # take minutes; each table is tested in tests/scripts
    "python scripts/thesis": SMALL_THESIS,
    "python scripts/thesis --table beyond": PARSED,
    "python scripts/thesis --table 1.1 --table 3.1 --table 4.1 --table 4.2 --table moves "
    "--table 5.1 --table 5.2 --table beyond --write docs/results":
        f"{SMALL_THESIS} --write docs/results",
    **{
        f"python scripts/thesis --table beyond --columns {options}": PARSED
        for options in (
            "200 --limit 64000000 --memory 7GB",
            "20 --limit 80000000",
            "13 --limit 3400000000",
            "10 --limit 61000000000 --memory 7GB",
        )
    },
    # need a queue, other hosts, or a cluster's interface: tests/test_jobs.py and tests/layers run
    # these on stand-ins of their own, tests/campaigns/slurm-here on a real Slurm
    f"{RUN} --set cluster.kind=slurm --workers 32 --set cluster.options.interface=eth0 "
    "--set cluster.options.walltime=04:00:00": PARSED,
    "sbatch --ntasks=34 jobs/slurm-runner.sh": "bash -n jobs/slurm-runner.sh",
    f"srun {RUN} --set cluster.kind=slurm-runner --set cluster.options.interface=eth0": PARSED,
    "dask scheduler --interface eth0 --port 8786 --dashboard-address 127.0.0.1:8787": PARSED,
    "while true; do\ndask worker tcp://10.0.0.1:8786 --interface eth0 --nthreads 2 --nworkers 16 "
    "--memory-limit 2GB --death-timeout 60\nsleep 5\ndone": PARSED,
    f"{RUN} --set cluster.kind=address --set cluster.address=tcp://10.0.0.1:8786 "
    "--workers 32": PARSED,
    'HOSTS="node1 node2 node3" WORKERS=16 INTERFACE=eth0 jobs/ssh.sh': "bash -n jobs/ssh.sh",
    "export CONFIG=mine.toml SETTINGS=cluster.options.walltime=01:00:00": PARSED,
    "sbatch --mem=1G jobs/slurm.sh": "bash -n jobs/slurm.sh",
    "squeue": PARSED,
    "frontier status mine.toml": PARSED,
    # stay after the test
    "dask scheduler --scheduler-file runs/scheduler.json 2> runs/scheduler.log &": PARSED,
    "dask worker --scheduler-file runs/scheduler.json --nworkers 2 --death-timeout 60 "
    "2> runs/workers.log &": PARSED,
    "kill %2 %1": PARSED,
    "frontier run 2x6 --set cluster.kind=scheduler-file "
    "--set cluster.scheduler_file=runs/scheduler.json --workers 2":
        "frontier run 2x6 --set cluster.kind=serial --until 12",
    # need a bucket: the same runs go to one on this machine, whose server the test has started
    "pip install '.[cloud]'": PARSED,
    "export AWS_REGION=eu-central-1": PARSED,
    "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…": PARSED,
    "frontier run 2x8 --out s3://my-bucket/runs/2x8 --set "
    "cluster.kind=address --set cluster.address=tcp://10.0.0.1:8786 --workers 32":
        "frontier run 2x4 --out s3://bucket/runs/2x8",
    "frontier status s3://my-bucket/runs/2x8":
        "frontier status s3://bucket/runs/2x8",
    "frontier farthest s3://my-bucket/runs/2x8":
        "frontier farthest s3://bucket/runs/2x8",
    "pip install 'moto[s3]' flask flask-cors": PARSED,
    "python -m moto.server -p 5000 > moto.log 2>&1 &": PARSED,
    "export AWS_ENDPOINT_URL=http://127.0.0.1:5000 AWS_ALLOW_HTTP=true AWS_REGION=us-east-1":
        PARSED,
    "export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any": PARSED,
    "curl --retry 9 --retry-connrefused -X PUT http://127.0.0.1:5000/my-bucket": PARSED,
    "frontier run 2x5 --out s3://my-bucket/runs/2x5":
        "frontier run 2x5 --out s3://bucket/runs/2x5",
    "frontier verify s3://my-bucket/runs/2x5":
        "frontier verify s3://bucket/runs/2x5",
    # need Docker and Kubernetes
    "docker build --tag frontier:latest .": PARSED,
    "helm install --repo https://helm.dask.org --create-namespace -n dask-operator "
    "--generate-name dask-kubernetes-operator": PARSED,
    "kubectl apply -f jobs/kubernetes.yaml": PARSED,
    "kubectl logs --follow job/frontier": PARSED,
}  # fmt: skip

PROGRAMS = {
    r"(?<![\w/])frontier": main,
    "dask scheduler": dask_scheduler.main,
    "dask worker": dask_worker.main,
}
"""Each by a pattern that its name matches in a command."""

PROGRAM = "from frontier.cli import main; main(prog_name='frontier')"
"""The `frontier` that an installation makes."""

PAGES = [page for page in pages() if blocks_of(page)]
TEXTS = [*pages(), ROOT / "CONTRIBUTING.md"]


class Reader:
    """Goes through a page in a directory of its own, as a clone would be; or, with `clone=False`,
    in an empty one."""

    def __init__(self, place: Path, monkeypatch, clone: bool = True):
        folder, self.home = place / "clone", place / "home"
        self.home.mkdir()
        if clone:
            for name in ("configs", "jobs", "scripts"):
                shutil.copytree(ROOT / name, folder / name)
            shutil.copy(ROOT / ".gitignore", folder)
        programs = folder / ".venv" / "bin"
        programs.mkdir(parents=True)
        for name, line in {"python": '"$@"', "frontier": f'-c "{PROGRAM}" "$@"'}.items():
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {line}\n')
            (programs / name).chmod(0o755)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        monkeypatch.setenv("COLUMNS", "100")
        self.folder, self.names = folder, {}

    def read(self, block: Block) -> None:
        if block.file:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        if block.language == "sh":
            self._shell(block)
        if block.language == "python":
            self.python(block.text)

    def _shell(self, block: Block) -> None:
        lines = statements(block.text)
        if not any(arguments_of(line) or line in INSTEAD for line in lines):
            self.command(block.text)
            return
        for line in lines:
            instead = INSTEAD.get(line, line)
            printed = None if instead == PARSED else self.command(instead)
        if block.output and instead == line:
            assert not (wrong := difference(block.output, printed)), f"{line}: {wrong}"

    def command(self, line: str) -> str:
        """Run a command; returns what it prints on standard output."""
        arguments = arguments_of(line)
        if arguments is not None:
            result = CliRunner().invoke(main, arguments, prog_name="frontier")
            error = result.exception if result.exit_code == 1 else None
            assert result.exit_code == 0, f"{line}: {result.stderr}{error!r}"
            return result.stdout
        home = {"HOME": str(self.home), "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", "")}
        result = subprocess.run(
            ["bash", "-euc", line], capture_output=True, text=True, env={**os.environ, **home}
        )
        assert result.returncode == 0, f"{line}: {result.stderr}"
        return result.stdout

    def python(self, text: str) -> None:
        """Run a block of Python line by line, and hold what its comments say against values."""
        said = dict(values_of(text))
        for part in ast.parse(text).body:
            code = ast.unparse(part)
            source = ast.get_source_segment(text, part)
            if source in said:
                value = eval(code, self.names)
                assert np.asarray(value).tolist() == said[source], f"{source}: {value!r}"
            else:
                exec(code, self.names)

    def left(self) -> set[str]:
        """The new files that git would show."""
        git = ["git", "-C", str(self.folder)]
        subprocess.run([*git, "init", "-q"], check=True)
        shown = subprocess.run(
            [*git, "ls-files", "--others", "--exclude-standard"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return {name for name in shown.stdout.splitlines() if not (ROOT / name).exists()}


@pytest.mark.sweep
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch, request):
    if any("s3://" in block.text for block in blocks_of(page)):
        request.getfixturevalue("s3_bucket")
    reader = Reader(tmp_path, monkeypatch)
    for block in blocks_of(page):
        reader.read(block)
    assert reader.left() == set()


@pytest.mark.sweep
def test_the_readme_and_then_the_tutorial_in_one_clone(tmp_path, monkeypatch):
    """What comes out of the tutorial is as it says, though runs are there already."""
    reader = Reader(tmp_path, monkeypatch)
    for page in (ROOT / "README.md", ROOT / "docs" / "tutorial.md"):
        for block in blocks_of(page):
            reader.read(block)
    assert reader.left() == set()


@pytest.mark.sweep
def test_the_tutorial_without_a_clone(tmp_path, monkeypatch):
    reader = Reader(tmp_path, monkeypatch, clone=False)
    for block in blocks_of(ROOT / "docs" / "tutorial.md"):
        reader.read(block)
    assert not (reader.folder / "configs").exists()


SAID = "2x5: depth 55, 0.1 s in layers (30 M/s); 37.5 kB in /home/you/runs/2x5\n"


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("2x5: depth 55, 1 min 02 s in layers (812/s); 4 B in /tmp/a/runs/2x5\n", True),
        ("2x5: depth 54, 0.1 s in layers (30 M/s); 37.5 kB in /home/you/runs/2x5\n", False),
        ("2x5: depth 55, 0.1 s in layers (30 M/s); 37.5 kB in /home/you/runs/2x6\n", False),
        (SAID + "more\n", False),
    ],
)
def test_outputs_are_compared_but_for_time_size_and_place(printed, same):
    assert (difference(SAID, printed) is None) == same
    assert difference("…\n" + SAID + "…\n", "first\n" + SAID + "more\n") is None


def all_statements() -> Counter:
    blocks = (block for page in PAGES for block in blocks_of(page) if block.language == "sh")
    return Counter(line for block in blocks for line in statements(block.text))


def test_every_stand_in_is_for_a_command_of_a_page():
    assert not set(INSTEAD) - set(all_statements())


@pytest.mark.parametrize("line", [line for line in all_statements() if line in INSTEAD])
def test_what_is_not_run_is_well_formed(line):
    """By bash, and by the parsers of our programs, which also see that configs are there."""
    subprocess.run(["bash", "-nc", line], check=True)
    for name, program in PROGRAMS.items():
        for found in re.findall(rf"{name} ([^\n&]*?)(?: 2?>|[\n&]|$)", line):
            _parse(program, arguments_of(f"frontier {found}"))
            for file in re.findall(r"\b(?:configs|jobs|scripts)/\S+", found):
                assert (ROOT / file).exists()


def _parse(program, arguments: list[str]) -> None:
    if program is main:
        name, *arguments = arguments
        program = main.commands[name]
    program.make_context("program", arguments)


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_commands_in_the_text_are_known(page):
    """What a sentence calls a command has its options; a script that it names is there."""
    for part in inline_of(page):
        words = re.sub(r"^(python -m )?frontier ", "", part)
        name = words.split(" ")[0]
        if words != part:
            assert name in main.commands or name.startswith(("-", "…")) or name.isupper(), part
        if name in main.commands:
            known = {name for option in main.commands[name].params for name in option.opts}
            assert set(re.findall(r"(?<!\S)\[?(--[a-z-]+)", words)) <= known | {"--help"}, part
        if script := re.match(r"(?:python )?((?:scripts|jobs|configs|tests)/[\w./-]+)", part):
            assert (ROOT / script.group(1)).exists(), part


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_configs_are_right(page, tmp_path):
    """A program is one of configs/, or the block before its config."""
    shutil.copytree(ROOT / "configs", tmp_path, dirs_exist_ok=True)
    for block in blocks_of(page):
        if block.file and block.file.endswith(".py"):
            (tmp_path / block.file).write_text(block.text)
        if block.language != "toml":
            continue
        values = tomllib.loads(block.text)
        if "puzzle" in values:
            checked_config({"name": "page", **values}, name_of(page), folder=tmp_path)
        else:
            ClusterTable.model_validate(values["cluster"])


@pytest.mark.parametrize("page", TEXTS, ids=name_of)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        assert "://" in target or (page.parent / target).exists(), target
