"""Runs of a user's own moves: layers, resume, answers, and whose code is run."""

import json
import signal
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import frontier
from frontier.answers.excerpts import Excerpt
from frontier.errors import InputError, Stopped
from frontier.kernels import key_lists
from frontier.layers.verify import verify
from frontier.puzzles import program_file
from tests.support import programs
from tests.support.sweeps import cases

CONFIGS = Path(__file__).parents[2] / "configs"
HANOI = (CONFIGS / "hanoi.py").read_text()
PEGS = (CONFIGS / "peg-solitaire.py").read_text()
SOKOBAN = (CONFIGS / "sokoban.py").read_text()
LEVEL = "#####\n#@  #\n# $ #\n#  ##\n####"
BOARD = "  oo\n  oo\noooooo\noo.ooo"

CASES = {
    "hanoi": (HANOI, {"disks": 6}),
    "three pegs": (HANOI, {"disks": 7, "pegs": 3}),
    "sokoban": (SOKOBAN, {"level": LEVEL}),
    "pegs": (PEGS, {"board": BOARD}),
    "long": (programs.GRAPH, {"states": 200, "pad": 90}),
    "one way": (programs.GRAPH, {"states": 300, "both": False}),
}


@pytest.fixture(autouse=True, scope="module")
def compiled_once():
    """Equal functions are compiled once for all runs, which takes a second each time."""
    made, compiled = {}, key_lists.compiled_expansion

    def kept(space, rules):
        key = cloudpickle.dumps((rules, space.radices))
        if key not in made:
            made[key] = compiled(space, rules)
        return made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_lists, "compiled_expansion", kept)
        yield


@pytest.fixture(params=cases(CASES, few=["hanoi", "long", "sokoban"]))
def case(request, tmp_path):
    """(the config of a run that keeps all layers, its layers by a dictionary)."""
    text, parameters = CASES[request.param]
    table = programs.table_of(text)(**parameters)
    return programs.program(tmp_path, text, "all", **parameters), programs.layers(table)


def test_a_run_and_its_answers(case):
    """Stopped twice and resumed; layers, distances, solutions and checks."""
    config, layers = case
    for until in (0, len(layers) // 2, None):
        run = frontier.run(config, until=until)
    assert run.complete
    assert run.counts == list(map(len, layers))
    assert [set(layer) for layer in run.layers] == layers
    depth, boards = len(layers) - 1, run.farthest(limit=10_000)
    assert set(boards) == layers[-1]
    states = np.array([min(layer) for layer in layers])
    assert run.distance(states).tolist() == list(range(len(layers)))
    assert verify(run.store, deep=20).faults == []
    start = run.puzzle.goals[0]
    solution = run.solve(boards[0])
    ends = solution.boards[0], solution.boards[-1]
    assert ends == ((boards[0], start) if run.puzzle.model.undone else (start, boards[0]))
    assert solution.distance == depth
    again = frontier.solve(config.model_copy(update={"name": "none"}), boards[0])
    assert again.distance == depth


def test_the_last_layers_are_enough(case, tmp_path):
    config, layers = case
    kept = {"path": str(tmp_path / "kept"), "fsync": "never"}
    puzzle = {k: v for k, v in config.puzzle_settings.items() if k not in ("text", "stated")}
    config = frontier.make_config("moves", puzzle, None, kept)
    frontier.run(config, until=1)
    run = frontier.run(config)
    assert run.counts == list(map(len, layers))
    stored = [layer.depth for layer in run.layers if layer.kept]
    last = len(layers) - 1
    revisits = run.puzzle.model.revisits
    assert stored == (list(range(last + 1)) if revisits else [last - 1, last])


def test_a_damaged_list_is_found(tmp_path):
    run = frontier.run(programs.program(tmp_path, HANOI, disks=5))
    part = next(Path(run.path).glob("layers/*/00*/c.0"))
    data = bytearray(part.read_bytes())
    data[10] ^= 1
    part.write_bytes(data)
    assert verify(run.store).faults


def test_short_of_memory_loses_no_layer(tmp_path, monkeypatch):
    """The layers so far are committed, and more memory resumes the run."""
    monkeypatch.setattr(key_lists, "SMALL_LIST", 32)
    config = programs.program(tmp_path, HANOI, disks=6)
    monkeypatch.setattr(key_lists, "PROCESS_BYTES", int(2 * 2e9) - 8 * 1000)
    with pytest.raises(Stopped, match=r"cluster\.memory"):
        frontier.run(config)
    depth = frontier.open_run(config.path).depth
    assert depth > 5
    monkeypatch.setattr(key_lists, "PROCESS_BYTES", 0)
    assert frontier.run(config).depth == 17


STOPS = """
def puzzle():
    def neighbours(state, out):
        out[0, 0] = min(state[0] + 1, 9)
        out[1, 0] = state[0] - 1 if 0 < state[0] < 6 else state[0]
        return 2

    return {"radices": [10], "start": [0], "neighbours": neighbours, "most": 2}
"""


def test_a_wrong_function_keeps_the_layers_before(tmp_path):
    """States from 6 on lead nowhere back, but the file says that every move is undone."""
    with pytest.raises(InputError, match=r"from \[5\] to \[6\], but none leads back"):
        frontier.run(programs.program(tmp_path, STOPS))
    assert frontier.open_run(tmp_path / "run").counts == [1] * 6


def test_a_changed_file_is_refused(tmp_path):
    config = programs.program(tmp_path, HANOI, disks=5)
    frontier.run(config, until=3)
    (tmp_path / "moves.py").write_text(HANOI.replace("count = 0", "count = 1 - 1"))
    changed = frontier.make_config("moves", {
        "kind": "program", "file": str(tmp_path / "moves.py"), "disks": 5,
    }, None, {"path": config.path})  # fmt: skip
    with pytest.raises(InputError, match=r"line \d+ is `count = 1 - 1`, and was `count = 0`"):
        frontier.run(changed)
    with pytest.raises(InputError, match=r"disks = 5, here puzzle\.disks = 6\. Resume"):
        frontier.run(programs.program(tmp_path, HANOI, disks=6))


STRANGER = """
import sys
from frontier.__main__ import main
sys.argv[0] = "frontier"
main()
"""


STRANGERS = """
import json, os, sys
from frontier.__main__ import main
_, mark, commands = sys.argv
done = []
for words in json.loads(commands):
    sys.argv = ["frontier", *words]
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    done.append([code or 0, os.path.exists(mark)])
print(json.dumps(done))
"""
"""Runs several commands, and prints the code of each and whether a file is there after it."""


def test_a_run_of_somebody_else_is_data(tmp_path):
    """Commands that only read run nothing of its text."""
    mark = tmp_path / "mark"
    text = f"open({str(mark)!r}, 'a').write('x')\n{HANOI}"
    run = frontier.run(programs.program(tmp_path, text, "all", disks=4), until=4)
    mark.unlink()  # it says that the text was run
    reads = ["status"], ["report"], ["verify"], ["layer", "3"], ["status", "--json"]
    runs = ["run"], ["solve", "0001"], ["verify", "--deep"]
    asked = [*reads, *runs, ["run", "--trust"]]
    commands = [[name, str(run.path), *words] for name, *words in asked]
    ask = [sys.executable, "-c", STRANGERS, str(mark), json.dumps(commands)]
    done = subprocess.run(ask, capture_output=True, text=True)
    assert json.loads(done.stdout.splitlines()[-1]) == (
        [[0, False]] * len(reads) + [[2, False]] * len(runs) + [[0, True]]
    )
    assert done.stderr.count("--trust") == len(runs), done.stderr


def test_trust_in_python(tmp_path, monkeypatch):
    path = frontier.run(programs.program(tmp_path, HANOI, "all", disks=4)).path
    monkeypatch.setattr(program_file, "_trusted", set())  # as in a process that has named no file
    run = frontier.open_run(path)
    with pytest.raises(InputError, match="trust the stored text"):
        run.solve("0001")
    run.trust()
    assert run.solve("0001").distance == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1 /", r"line 1: SyntaxError"),
        ("x = 1 / 0", r"line 1: ZeroDivisionError"),
        ("def other(): pass", "defines no function puzzle"),
        ("def puzzle(): return 3", r"returns 3: expected a dict"),
        ("def puzzle(): return {}", "returns no 'radices'"),
        ("def puzzle(): return dict(radices=[2], neighbours=3, most=1)", "expected a function"),
        ("def puzzle(): return dict(radices=[2], colour=3)", "'colour'; known: radices"),
        ("def puzzle(size): pass", "TypeError: .*size"),
        ("def puzzle(): return dict(radices=[2] * 300, start=[0] * 300, neighbours=len, most=1)",
         "do not fit four words"),
        ("def puzzle(): return dict(radices=[2], start=[2], neighbours=len, most=1)",
         r"start = \[2\]"),
        ("def puzzle(): return dict(radices=[2], neighbours=len, most=1)", "'start' or 'starts'"),
    ],
)  # fmt: skip
def test_wrong_files_are_refused(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        programs.program(tmp_path, text)


TABLE = """
def puzzle(size=10):
    def neighbours(state, out):
        out[0, 0], out[1, 0] = (state[0] + 1) % size, (state[0] - 1) % size
        return 2

    return {{"radices": [size], "start": [0], "neighbours": neighbours, "most": 2}} | {}
"""


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("{'radices': [10.5]}", r"radices = \[10\.5\]"),
        ("{'radices': '9'}", "radices = '9'"),
        ("{'radices': 9}", "radices = 9"),
        ("{'radices': [2**63]}", r"from 1 to 2\^62"),
        ("{'start': [0.5]}", r"start = \[0\.5\]"),
        ("{'start': 0}", "start = 0"),
        ("{'most': 2.5}", r"most = 2\.5: expected a whole number from 1"),
        ("{'most': 10**9}", r"most = 1000000000: .* 65,536"),
        ("{'undone': 'no'}", "undone = 'no'"),
        ("{'by_key': 1}", "by_key = 1"),
        ("{'neighbours': None}", "neighbours = None"),
        ("{'show': lambda state: None}", "show returns None"),
        ("{'show': lambda state: '\\x1b[0m'}", "show returns"),
        ("{'show': lambda state: exit(7)}", "show raises SystemExit: 7"),
    ],
)
def test_wrong_entries_are_refused(tmp_path, entries, said):
    with pytest.raises(InputError, match=said):
        programs.program(tmp_path, TABLE.format(entries))


@pytest.mark.parametrize(
    ("read", "said"),
    [("None", "read returns None"), ("[0.5]", "whole number"), ("[11]", "is 11"), ("[]", "0 dig")],
)
def test_what_read_returns_is_checked(tmp_path, read, said):
    config = programs.program(tmp_path, TABLE.format(f"{{'read': lambda text: {read}}}"))
    with pytest.raises(InputError, match=said):
        frontier.solve(config, "x")


def test_state_numbers_of_several_words(tmp_path):
    """The number of a state ends in its last digit, which takes 4 bits."""
    config = programs.program(tmp_path, programs.GRAPH, "all", states=16, pad=90)
    run = frontier.run(config)
    layer = run.layers[1]
    digits = sorted(board[-1] for board in layer)
    lines = b"".join(Excerpt(run.puzzle, layer, by_number=True).text()).split()
    table = b"".join(Excerpt(run.puzzle, layer).csv()).splitlines()[1:]
    assert [int(line) % 16 for line in lines] == digits
    assert [int(line.split(b",")[0]) for line in table] == [int(line) for line in lines]
    array = np.load(BytesIO(b"".join(Excerpt(run.puzzle, layer, by_number=True).npy())))
    assert layer.boards_of(array)[:, -1].tolist() == digits


def test_a_state_that_a_complete_run_lacks(tmp_path):
    text = TABLE.format("{'radices': [12], 'undone': False}")
    run = frontier.run(programs.program(tmp_path, text, "all"))
    with pytest.raises(InputError, match="cannot be reached"):
        run.solve([11])


def test_wrong_keys_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"puzzle\.disk: puzzle\(\) takes disks, pegs"):
        programs.program(tmp_path, HANOI, disk=3)
    with pytest.raises(InputError, match=r"puzzle\(\) takes title"):
        programs.program(tmp_path, "def puzzle(title='x'): pass")
    anything = (
        HANOI + "\n_puzzle = puzzle\ndef puzzle(disks, **more): return _puzzle(disks, **more)\n"
    )
    assert programs.program(tmp_path, anything, disks=2, pegs=3).make_puzzle().states == 9
    with pytest.raises(InputError, match=r"TypeError: .*colour"):
        programs.program(tmp_path, anything, disks=2, colour=3)
    programs.program(tmp_path, HANOI, disks=3)
    puzzle = {"kind": "program", "file": str(tmp_path / "moves.py"), "disks": 3}
    for key, value in {"text": "", "stated": {}, "goal": "000"}.items():
        with pytest.raises(InputError, match=rf"puzzle\.{key}"):
            frontier.make_config("x", puzzle | {key: value})
    with pytest.raises(InputError, match=r"nothing\.py cannot be read"):
        frontier.make_config("x", {"kind": "program", "file": str(tmp_path / "nothing.py")})


def test_a_file_may_print_and_have_windows_line_ends(tmp_path):
    text = "print('loud')\n" + HANOI
    frontier.run(programs.program(tmp_path, text.replace("\n", "\r\n"), disks=3))
    config = tmp_path / "loud.toml"
    config.write_text('name = "loud"\n[puzzle]\nkind = "program"\nfile = "moves.py"\ndisks = 3\n')
    done = subprocess.run(
        [sys.executable, "-c", STRANGER, "run", config, "--out", tmp_path / "run", "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["depth"] == 5, done.stderr
    assert "loud" in done.stderr


LOOPS = """
def puzzle():
    def neighbours(state, out):
        while state[0] >= 0:
            state[0] += 0
        return 0

    return {"radices": [4], "start": [0], "neighbours": neighbours, "most": 2}
"""


@pytest.mark.sweep
def test_a_function_that_loops_can_be_interrupted(tmp_path):
    """The first Ctrl-C asks for a stop, the second ends the process."""
    (tmp_path / "moves.py").write_text(LOOPS)
    config = tmp_path / "loop.toml"
    config.write_text('name = "loop"\n[puzzle]\nkind = "program"\nfile = "moves.py"\n')
    words = [sys.executable, "-c", STRANGER, "run", config, "--out", tmp_path / "run"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    for wanted in (" 1 ", "again to stop now"):
        assert any(wanted in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
    assert process.wait() == 3
    assert frontier.open_run(tmp_path / "run").counts == [1]


@pytest.mark.sweep
@pytest.mark.parametrize(("pegs", "disks", "depth"), [(3, 9, 511), (4, 8, 33)])
def test_many_disks(tmp_path, pegs, disks, depth):
    table = programs.table_of(HANOI)(disks, pegs)
    run = frontier.run(programs.program(tmp_path, HANOI, disks=disks, pegs=pegs))
    assert run.counts == list(map(len, programs.layers(table)))
    assert (run.depth, run.states) == (depth, pegs**disks)
