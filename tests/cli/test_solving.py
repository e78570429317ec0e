"""`solve` as a user types it."""

import json
import re
import tempfile

import pytest

import frontier
from frontier.cli import solve as solving
from frontier.errors import InputError, Unsolved
from frontier.puzzles import permutation_puzzle
from frontier.solving.methods import Progress
from tests.support.commands import invoke
from tests.support.reference_puzzles import CONFIGS, of_config, tiles
from tests.support.sweeps import swept

GOAT = CONFIGS / "goat.toml"
HEXAGRAM = CONFIGS / "hexagram.toml"
SERIAL = "--set", "cluster.kind=serial"


def refused(*arguments):
    """The line that says why a command is refused; before it may stand how others are solved."""
    result = invoke(*arguments, code=2)
    *before, last = result.stderr.splitlines()
    assert last.startswith("frontier: ")
    assert all(line.endswith(" …") for line in before)
    return last


def values(*arguments, **more):
    """What a command prints, one JSON object a line."""
    return [json.loads(line) for line in invoke(*arguments, "--json", **more).stdout.splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The directory of a 2x4 run with all its layers."""
    path = tmp_path_factory.mktemp("solve") / "run"
    keep = "--set", "search.keep=all", "--set", f"store.path={path}"
    invoke("run", CONFIGS / "2x4.toml", *SERIAL, *keep)
    return path


@pytest.fixture(scope="module")
def case():
    return tiles(2, 4)


def text_of(board):
    return " ".join(map(str, board[:4])) + "/" + " ".join(map(str, board[4:]))


@pytest.fixture(scope="module")
def boards(case):
    """Positions at some depths, the farthest one too."""
    at = {depth: board for board, depth in sorted(case.depths.items())}
    return [at[depth] for depth in (0, 1, 7, 20, 36)]


def follows(case, value):
    """Whether the moves of an answer lead from its board to the goal."""
    board = value["board"]
    for name in value["moves"]:
        board = case.do(board, name)
    return case.read(board) in case.goals


def test_solve_by_layers(run, case, boards):
    lines = [text_of(board) for board in boards]
    found = values("solve", run, *lines, "--all-counts")
    for board, value in zip(boards, found, strict=True):
        assert set(value) == {"board", "goal", "distance", "moves", "solutions", "method"}
        assert case.read(value["board"]) == board
        assert value["distance"] == len(value["moves"]) == case.depths[board]
        assert value["solutions"] == case.shortest[board]
        assert follows(case, value)
    assert "solutions" not in values("solve", run, lines[0])[0]


def test_solve_by_search(case, boards):
    """Any config will do; nothing is read or written."""
    lines = [text_of(board) for board in boards[:4]]
    found = values("solve", CONFIGS / "2x4.toml", *lines, "--method", "ida")
    for board, value in zip(boards, found, strict=False):
        assert value["distance"] == len(value["moves"]) == case.depths[board]
        assert value["nodes"] == sum(value["nodes_of_iterations"])
        assert follows(case, value)
    assert [value["nodes"] > 0 for value in found] == [False, True, True, True]


def test_a_config_is_simply_solved(case, boards, tmp_path, monkeypatch):
    """From its run, where that kept its layers, else with databases; solutions are counted by a
    search in memory, where that fits."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    config, board = CONFIGS / "2x4.toml", text_of(boards[3])
    settings = *SERIAL, "--set", f"store.path={tmp_path / 'run'}"

    def asked(*arguments):
        (value,) = values("solve", config, board, *settings, *arguments)
        assert value["distance"] == len(value["moves"]) == 20
        assert follows(case, value)
        said = invoke("solve", config, board, *settings, *arguments).stderr
        return value["method"], said.strip(), value.get("solutions")

    searched = "search", "Searching all 20,160 states in memory …"
    databases = "databases", "Searching by IDA* with pattern databases …"
    ways, counting = case.shortest[boards[3]], "--all-counts"
    assert asked() == (*databases, None)
    assert asked(counting) == (*searched, ways)
    assert list(tmp_path.iterdir()) == []
    assert asked("--most-nodes", 10**6) == (*databases, None)
    assert asked("--no-tell-apart")[:2] == ("ida", "Searching by IDA* …")
    monkeypatch.setattr("frontier.solving.methods.MOST_SEARCHED", 20_159)
    assert asked(counting) == (*databases, ways)
    monkeypatch.setattr("frontier.solving.methods.MOST_SEARCHED", 20_160)
    assert asked(counting, "--set", "cluster.memory=1MB")[0] == "search"  # serial: as usual here
    memory = "--set", "cluster.kind=local", "--set", "cluster.memory=1MB"
    assert asked(counting, *memory) == (*databases, ways)
    invoke("run", config, *settings, "--set", "search.keep=all", "--until", "30")
    assert asked()[0] == "databases"
    invoke("run", config, *settings, "--set", "search.keep=all")
    found = "layers", f"Looking up in the layers of {tmp_path / 'run'} …", None
    assert asked() == found
    assert asked("--method", "search")[:2] == searched
    solution = frontier.solve(tmp_path / "run", board)
    assert (solution.distance, solution.method) == (20, "layers")


def test_one_board_from_python(case, boards):
    board = boards[3]
    for method, expected in ((None, "databases"), ("search", "search"), ("ida", "ida")):
        solution = frontier.solve(CONFIGS / "2x4.toml", board, method=method)
        assert (solution.distance, solution.method) == (20, expected)
        assert [case.depths[step] for step in solution.boards] == [*range(20, -1, -1)]
    assert frontier.solve(frontier.load_config(GOAT)).distance == 20
    with pytest.raises(InputError, match=r"2×4 tiles has no puzzle\.start"):
        frontier.solve(CONFIGS / "2x4.toml")
    with pytest.raises(InputError, match="parity"):
        frontier.solve(CONFIGS / "2x4.toml", "0 2 1 3/4 5 6 7")
    for method in (None, "ida"):
        with pytest.raises(Unsolved, match="needs at least"):
            frontier.solve(CONFIGS / "2x4.toml", board, method=method, most_nodes=5)


def test_a_long_search_says_less_and_less_often(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("frontier.cli.solve.time.monotonic", lambda: now[0])
    said = []
    monkeypatch.setattr("frontier.cli.solve.click.echo", lambda text, err: said.append(text))
    watch = solving._Watch()
    for second in range(100_000):
        now[0] = float(second)
        watch(Progress(12, 20 if second > 3 else None, 1000 * second, 5000 if second > 1 else None))
    assert len(said) == 17
    assert said[0].startswith("at least 12 moves, 1,000 nodes so far, 1,000 a second, 1.0 s")
    assert [line.endswith(" left for 12") for line in said[:3]] == [False, True, True]
    assert said[2].startswith("12 to 20 moves, 4,000 nodes so far")


def test_solve_a_run_directory_by_search(run, boards, case):
    (value,) = values("solve", run, text_of(boards[3]), "--method", "ida")
    assert value["distance"] == 20
    assert follows(case, value)


def test_solve_tells_a_person(run, boards, case):
    """Boards on the way are drawn with the moves that lead to them."""
    far = text_of(boards[4])
    ways = case.shortest[boards[4]]
    out = invoke("solve", run, far, text_of(boards[1]), "--all-counts").stdout
    goal = "0 1 2 3/4 5 6 7"
    assert out.startswith(f"{far}: 36 moves to {goal}, {ways} shortest solutions\n")
    assert f"{text_of(boards[1])}: 1 move to {goal}, 1 shortest solution" in out
    moves = [word for line in out.splitlines()[1:3] for word in line.split()]
    assert moves == values("solve", run, far)[0]["moves"]
    shown = invoke("solve", run, text_of(boards[1]), "--boards").stdout
    (name,) = values("solve", run, text_of(boards[1]))[0]["moves"]
    lines = shown.splitlines()
    assert lines[3].split("  ")[0] == "start"
    assert lines[3].rstrip().endswith(f"1. {name}")
    drawn = [word for line in lines if "│" in line for word in line.replace("│", " ").split()]
    both = (board[4 * row : 4 * row + 4] for row in (0, 1) for board in (boards[1], boards[0]))
    assert drawn == [str(tile) for row in both for tile in row if tile]
    searched = invoke("solve", CONFIGS / "2x4.toml", text_of(boards[2]), "--method", "ida").stdout
    assert searched.startswith(f"{text_of(boards[2])}: 7 moves to {goal}, ")
    assert " nodes\n" in searched


def test_solve_with_the_boards_on_the_way(run, boards, case):
    (value,) = values("solve", run, text_of(boards[3]), "--boards")
    written = value["boards"]
    assert written[0] == value["board"]
    for number, name in enumerate(value["moves"]):
        assert case.do(written[number], name) == written[number + 1]
    assert [case.depths[case.read(board)] for board in written] == [*range(20, -1, -1)]


def test_solve_a_file(run, tmp_path, boards, case):
    """Empty lines do not count; a board that is none is named by file and line."""
    file = tmp_path / "boards.txt"
    file.write_text("\n".join(["", *map(text_of, boards), "", ""]))
    assert [value["distance"] for value in values("solve", run, "--file", file)] == [
        case.depths[board] for board in boards
    ]
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    both = values("solve", run, text_of(boards[1]), "--file", file)
    assert [value["distance"] for value in both] == [1, *map(case.depths.get, boards)]
    piped = values("solve", run, "--file", "-", input=file.read_bytes())
    assert piped == both[1:]
    file.write_bytes(b"0 1 2 3/4 5 6 7\n0 1 2 3\xff")
    assert f"{file} cannot be read: line 2 is not UTF-8" in refused("solve", run, "--file", file)
    file.unlink()
    assert f"{file} cannot be read: No such file" in refused("solve", run, "--file", file)


def test_each_line_of_a_file_has_an_answer_or_an_error(run, tmp_path, boards, case):
    """Whatever is wrong with it; the exit code is that of the first error."""
    file, answered = tmp_path / "boards.txt", list(map(text_of, boards))
    wrong = {"0 1 2 3/4 5 6 6": "6 is repeated", "0 2 1 3/4 5 6 7": "parity", "a": "rows of 4"}
    lines = [*answered[:2], *wrong, "", *answered[2:]]
    file.write_text("\n".join(lines))
    for ask in (("--file", file), [line for line in lines if line]):
        done = invoke("solve", run, *ask, "--json", code=2)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        failed = found[2 : 2 + len(wrong)]
        assert [value["distance"] for value in found if value not in failed] == [
            case.depths[board] for board in boards
        ]
        for value, (text, why) in zip(failed, wrong.items(), strict=True):
            assert value == {"board": text, "error": value["error"]}
            assert why in value["error"]
        said = [line for line in done.stderr.splitlines() if not line.endswith(" …")]
        assert len(said) == len(wrong) + 1
        assert f"not solved: 3 of {len(boards) + 3} positions; see the errors above" in said[-1]
    plain = invoke("solve", run, "--file", file, code=2)
    assert sum("move" in line for line in plain.stdout.splitlines()) == len(boards)
    for number, line in enumerate(plain.stderr.splitlines()[1:4], start=3):
        assert line.startswith(f"error: {file}, line {number}: board")


def test_a_reason_is_explained_once(run, tmp_path):
    """Each position has its line, but advice is not repeated."""
    file = tmp_path / "boards.txt"
    wrong = ["0 2 1 3/4 5 6 7", "0 1 2 3/4 5 6 x", "0 3 2 1/4 5 6 7", "0 1 3 2/4 5 6 7"]
    file.write_text("\n".join(wrong))
    lines = invoke("solve", run, "--file", file, code=2).stderr.splitlines()[:-1]
    for number, (line, board) in enumerate(zip(lines, wrong, strict=True), start=1):
        assert f"line {number}: board" in line
        assert board in line
        assert ("cannot be reached" in line) == (number != 2)
        assert ("swap any two tiles" in line) == (number == 1)
    values = invoke("solve", run, "--file", file, "--json", code=2).stdout.splitlines()
    assert sum("swap any two tiles" in value for value in values) == 3


def test_a_file_has_comments(run, tmp_path):
    """Unless the mark is that of a wall."""
    file = tmp_path / "boards.txt"
    file.write_text("# two boards\n1023/4567  # in figures\n\n4 1 2 3/5 0 6 7# here\n")
    said = invoke("solve", run, "--file", file).stdout.splitlines()
    assert [line for line in said if "move" in line] == [
        "1 0 2 3/4 5 6 7: 1 move to 0 1 2 3/4 5 6 7",
        "4 1 2 3/5 0 6 7: 2 moves to 0 1 2 3/4 5 6 7",
    ]
    config = tmp_path / "walls.toml"
    config.write_text('name = "walls"\n[puzzle]\nkind = "blocks"\ngoal = ".a#"\n')
    file.write_text(".a#\na.#\n")
    said = invoke("solve", config, "--file", file).stdout
    assert "0 moves" in said
    assert "1 move" in said


def test_a_position_that_takes_too_long_does_not_end_the_others():
    hard = "weBB/fgbh/.kda"
    few = "--method", "ida", "--most-nodes", 1000
    done = invoke("solve", GOAT, hard, "ahBB/bge./dkfw", hard, *few, "--json", code=1)
    assert ["error" in json.loads(line) for line in done.stdout.splitlines()] == [True, False, True]
    assert "not solved: 2 of 3 positions; see the errors above" in done.stderr


def test_a_single_position_without_an_answer_is_told_once(run, tmp_path):
    file, text = tmp_path / "boards.txt", "0 2 1 3/4 5 6 7"
    file.write_text(f"\n{text}\n")
    assert f"{file}, line 2: board" in refused("solve", run, "--file", file)
    assert len(invoke("solve", run, text, code=2).stderr.splitlines()) == 1
    (value,) = map(json.loads, invoke("solve", run, text, "--json", code=2).stdout.splitlines())
    assert value["board"] == text


def test_a_board_without_its_quotes(run):
    """A shell hands it on word by word."""
    board = "4 1 2 3/5 6 7 0"
    config = CONFIGS / "2x4.toml"
    answer = invoke("solve", run, board).stdout
    for text in (board, "4 1 2 3 / 5 6 7 0", "4 1 2 3 5 6 7 0"):
        assert invoke("solve", run, *text.split()).stdout == answer
        assert invoke("draw", config, *text.split()).stdout == invoke("draw", config, board).stdout
    several = values("solve", CONFIGS / "topspin-9.toml", "123456789", "234567891")
    assert len(several) == 2
    wrong = "4 1 2 3 5 6 8 0"
    said = refused("solve", run, *wrong.split())
    assert (
        "8 is not one of them; the 8 words were read as one BOARD, because no single word is a "
        "board" in said
    )
    assert "read as one BOARD" not in invoke("solve", run, wrong, wrong, code=2).stderr


def test_a_sequence_of_moves_is_solved(tmp_path):
    """The position to which it leads from the goal; a long one is thereby shortened."""
    cube, ida = CONFIGS / "cube-2x2x2.toml", ("--method", "ida")
    (board,) = values("solve", cube, "6+2 3 4 7+1 5+1 1 2+2", *ida)
    for sequence in ("F2 U' R'", "F F (R U)'", "[F2: U' R'] F2"):
        (value,) = values("solve", cube, sequence, *ida)
        assert value == board
        assert values("solve", cube, *sequence.split(), *ida) == [board]  # without quotes
        drawn = invoke("draw", cube, sequence).stdout
        assert drawn == invoke("draw", cube, "6+2 3 4 7+1 5+1 1 2+2").stdout
    (tmp_path / "moves.txt").write_text("R U\nR U R' U'\n")
    several = values("solve", cube, "--file", tmp_path / "moves.txt", *ida)
    assert [value["distance"] for value in several] == [2, 4]
    said = refused("solve", cube, "R Q", *ida)
    assert "'R Q' has 2 labels" in said
    assert "as moves from the goal, 'R Q': 'Q' is not a move; the moves are U U2 U' R R2" in said
    assert "as moves" not in refused("solve", cube, "Q T", *ida)
    pancakes = CONFIGS / "pancake-9.toml"
    assert frontier.solve(pancakes, "4 3", method="ida").distance == 2
    said = refused("solve", pancakes, "R U", *ida)
    assert "as moves" not in said


def test_what_may_be_a_board_is_no_sequence():
    """Three pancakes: 3 2 3 is no order of them, 3 2 1 is one."""
    puzzle = permutation_puzzle({"1": "(1 2)", "2": "(2 3)", "3": "(1 3)"})
    assert puzzle.line(puzzle.position("321")) == "321"
    assert puzzle.line(puzzle.position("3 2 3")) == "213"
    like = permutation_puzzle({"turn": "(1 2 3 4)"}, closed=True, goals=["aabb", "abab"])
    assert like.line(like.position("turn")) == "baab"
    with pytest.raises(InputError, match="appears too often"):
        like.parse("turn")


def test_solve_the_start(run):
    (value,) = values("solve", GOAT, "--method", "ida")
    assert value["distance"] == 20
    (far,) = values("solve", GOAT, "--method", "ida", "--no-tell-apart")
    assert far["distance"] == 20
    assert far["nodes"] > value["nodes"]
    drawn = invoke("solve", GOAT, "--method", "ida", "--boards").stdout
    assert drawn.count("│ g") == 21
    for arguments in ((run,), (CONFIGS / "2x4.toml", "--method", "ida")):
        assert "no puzzle.start" in refused("solve", *arguments)


def test_what_is_asked_is_known_before_a_solver_is_made(run, tmp_path, monkeypatch):
    def made(*_):
        raise AssertionError("a solver is made")

    monkeypatch.setattr("frontier.solving.methods.IdaSolver", made)
    monkeypatch.setattr("frontier.solving.methods.Oracle", made)
    for arguments in ((CONFIGS / "hakoiri.toml", "--method", "ida"), (run,)):
        assert "name a BOARD, or a --file" in refused("solve", *arguments)
        assert "cannot be read" in refused("solve", *arguments, "--file", tmp_path / "none")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all-counts", "--method", "ida"], "the method ida does not count"),
        (
            ["--no-tell-apart", "--method", "layers"],
            "only for the method ida",
        ),
        (
            ["--most-nodes", "5", "--method", "search"],
            "only for the methods databases and ida",
        ),
        (["--no-tell-apart", "--method", "databases"], "only for the method ida"),
        (["--memory", "1GB", "--method", "ida"], "only for the method databases"),
        (["--memory", "1GB", "--method", "layers"], "only for the method databases"),
    ],
)
def test_options_of_the_other_method(run, arguments, message):
    assert message in refused("solve", run, "0 1 2 3/4 5 6 7", *arguments)


def test_the_moves_of_a_search_can_be_done_on_the_board_that_is_printed():
    (value,) = values("solve", GOAT, "--method", "ida")
    assert follows(of_config("goat"), value)


def test_solve_stops_after_so_many_nodes():
    far = "weBB/fgbh/.kda"
    result = invoke("solve", GOAT, far, "--method", "ida", "--most-nodes", 1000, code=1)
    assert "needs at least" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("metric", ["step", "multi"])
def test_solve_with_databases(metric):
    """They are made once; a smaller memory allows smaller ones, and the distances are the same."""
    puzzle = "2x4", "--set", f"puzzle.metric={metric}"
    case = tiles(2, 4, metric)
    board = text_of(next(iter(sorted(case.depths, key=case.depths.get, reverse=True))))
    found = [
        values("solve", *puzzle, board, "--method", "databases", *memory)
        for memory in ((), ("--memory", "1MB"), ("--memory", "10GB"))
    ]
    for (value,) in found:
        assert value["distance"] == len(value["moves"]) == max(case.depths.values())
        assert value["method"] == "databases"
        assert value["nodes"] == sum(value["nodes_of_iterations"])
        assert follows(case, value)


def test_solve_counts_with_databases(case, boards):
    lines = [text_of(board) for board in boards]
    found = values("solve", "2x4", *lines, "--method", "databases", "--all-counts")
    assert [value["solutions"] for value in found] == [case.shortest[board] for board in boards]
    multi = "--set", "puzzle.metric=multi"
    said = refused("solve", "2x4", lines[1], "--method", "databases", "--all-counts", *multi)
    assert "only if a move slides one tile" in said


def test_a_limit_of_nodes_holds_where_solutions_are_counted():
    """A search of all positions would take no notice of it."""
    arguments = "8-puzzle", "8 6 7/2 5 4/3 0 1", "--all-counts", "--most-nodes"
    assert "needs at least" in invoke("solve", *arguments, 1, code=1).stderr
    said = invoke("solve", *arguments, 300, code=1).stderr  # enough nodes to solve it
    assert "31 moves" in said
    assert "within 300 nodes" in said
    (value,) = values("solve", *arguments, 10**6)
    assert (value["distance"], value["solutions"], value["method"]) == (31, 40, "databases")
    assert value["nodes"] < 300


def test_solve_with_databases_stops_after_so_many_nodes():
    """It says what has been proved."""
    far = "8 6 7/2 5 4/3 0 1"
    result = invoke("solve", "8-puzzle", far, "--most-nodes", 1, "--memory", "1MB", code=1)
    assert "needs at least" in result.stderr
    assert result.stdout == ""
    (value,) = values("solve", "8-puzzle", far)
    assert (value["distance"], value["method"]) == (31, "databases")


@pytest.mark.parametrize("size", ["16", "1XB", "1,5GB", ""])
def test_a_memory_that_is_no_size(size):
    result = invoke("solve", "8-puzzle", "1 2 3/4 5 6/7 0 8", "--memory", size, code=2)
    assert "--memory" in result.stderr


BOARD_24 = "1 2 3 4 5/6 7 8 9 10/11 12 13 14 15/16 17 18 19 20/21 22 23 0 24"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("24-puzzle", BOARD_24, "--memory", "1kB"), "fits in 1,000 bytes"),
        ((GOAT, "--method", "databases"), "databases are for tile puzzles"),
        ((GOAT, "--memory", "1GB"), "databases are for tile puzzles"),
        ((GOAT, "--memory", "1GB", "--no-tell-apart"), "only for the method databases"),
        (("pattern-2x3-k2", "1 0 2/x 4 5", "--method", "databases"), "databases"),
        (("2x3", "0 1 2/3 4 5", "--method", "databases", "--set", 'puzzle.goal="? ? ?/? 0 ?"'),
         "one goal that shows all tiles"),
        (("2x2", "0 1/2 3", "--method", "databases"), "larger than 2×2"),
        (("2x4", "0 1 2 3/4 5 6 7", "--set", "puzzle.metric=multi", "--all-counts",
          "--most-nodes", "9"), "only if a move slides one tile"),
    ],
)  # fmt: skip
def test_databases_that_cannot_be_made(arguments, word, tmp_path):
    small = tmp_path / "2x2.toml"
    small.write_text('name = "2x2"\n[puzzle]\nkind = "tiles"\nrows = 2\ncolumns = 2\n')
    where = small if arguments[0] == "2x2" else arguments[0]
    assert word in refused("solve", where, *arguments[1:])


def test_what_solve_refuses(run, tmp_path):
    """Each with a message of one line, and exit code 2."""
    keep = "--set", f"store.path={tmp_path / 'thin'}", *SERIAL
    invoke("run", CONFIGS / "2x3.toml", *keep)
    family = "--set", f"store.path={tmp_path / 'family'}", "--set", "puzzle.blank=all", *SERIAL
    invoke("run", CONFIGS / "2x3.toml", *family, "--set", "search.keep=all")
    walls = tmp_path / "walls.toml"
    walls.write_text('name = "walls"\n[puzzle]\nkind = "blocks"\ngoal = "a.#b."\n')
    good, search, layers = "0 1 2 3/4 5 6 7", ("--method", "ida"), ("--method", "layers")
    far = "1 0 2 3 4 5 6/7 8 9 10 11 12 13"
    for arguments, word in [
        ((tmp_path / "thin", "0 1 2/3 4 5", *layers), 'search.keep = "all"'),
        ((run, good, "--set", "puzzle.rows=2"), "is a run directory"),
        ((CONFIGS / "2x4.toml", good, "--all-counts", *search), "does not count solutions"),
        ((CONFIGS / "2x4.toml", good, *layers), "has not started"),
        (
            (CONFIGS / "2x7.toml", far, "--all-counts", "--method", "search"),
            "43,589,145,600 states cannot all be searched: they are more than 1,000,000,000",
        ),
        (
            (CONFIGS / "2x7.toml", far, "--all-counts", "--set", "puzzle.metric=multi"),
            "cannot be counted",
        ),
        (
            (CONFIGS / "2x7.toml", far, "--method", "search"),
            "43,589,145,600 states cannot all be searched: they are more than 1,000,000,000",
        ),
        ((tmp_path / "family", "0 1 2/3 4 5"), "blank-0-1"),
        ((CONFIGS / "2x3.toml", "0 1 2/3 4 5", *family, *search), "puzzle.blank"),
        ((tmp_path / "none", good), "no such run"),
        ((tmp_path / "none.toml", good, *search), "none.toml"),
        ((run, "0 2 1 3/4 5 6 7"), "parity"),
        ((CONFIGS / "2x4.toml", "0 2 1 3/4 5 6 7", *search), "parity"),
        ((run, "0 1 2/3 4 5/6 7 8"), "2 rows of 4"),
        ((run, "0 1 2 3/4 5 6 8"), "0..7"),
        ((run, "0 1 2 3/4 5 6 x"), "'x'"),
        ((GOAT, "ahBB/b.eg/dzfw", *search), "'z'"),
        ((GOAT, "ahBB/b.eg", *search), "3 rows of 4"),
        ((GOAT, "ahB./b.eg/dkfw", *search), "piece 'B'"),
        ((GOAT, "ah../b.eg/dkfw", *search), "once, whole"),
        ((walls, "b.#a.", *search), "reached"),
        ((HEXAGRAM, "WWWWWWSSBBBBB", *search), "2 blanks"),
        ((HEXAGRAM, "WWWWWWZBBBBBB", *search), "'Z'"),
        ((HEXAGRAM, "WWWWWWSWBBBBB", *search), "more than 6 times"),
        ((HEXAGRAM, "WWWWWWSBBBBB", *search), "13 cells"),
    ]:
        assert word in refused("solve", *arguments), arguments


def test_an_unreachable_board_is_told_the_goal_and_how_to_set_another():
    """The solved 15-puzzle of most people has its blank last."""
    config, solved = CONFIGS / "4x4.toml", "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0"
    said = refused("solve", config, solved)
    assert "swap any two tiles to make it solvable, or put the goal's blank last: " in said
    assert (
        "The goal is 0 1 2 3/4 5 6 7/8 9 10 11/12 13 14 15; puzzle.goal in the config sets another"
        in said
    )
    last = "--set", re.search(r"(puzzle\.blank = \[.*?\])", said)[1]
    assert "0 moves" in invoke("solve", config, solved, *last, "--method", "ida").stdout
    assert f"0 moves to {solved}" in invoke("solve", CONFIGS / "15-puzzle.toml", solved).stdout
    goal = "--set", f"puzzle.goal={solved}"
    assert "0 moves" in invoke("solve", config, solved, *goal, "--method", "ida").stdout
    goals = "--set", 'puzzle.goals=["0 1 2/3 4 5", "1 0 2/3 4 5"]'
    said = refused("solve", CONFIGS / "2x3.toml", "0 2 1/3 4 5", *goals)
    assert "The first of the goals is 0 1 2/3 4 5; puzzle.goals in the config sets others" in said
    start = "--set", 'puzzle.start="0 2 1/3 4 5"'
    assert "The goal is 0 1 2/3 4 5; " in refused("solve", CONFIGS / "2x3.toml", *start)


GOALS = [
    ("8-puzzle", "1 2 3/4 5 6/7 0 8", "1 2 3/4 5 6/7 8 0", [[1, 2, 3], [4, 5, 6], [7, 8, 0]]),
    ("goat", "ahBB/bge./dkfw", "ahBB/bge./dkfw", ["ahBB", "bge.", "dkfw"]),
    ("pattern-2x3-k2", "1 0 2/x 4 5", "0 1 2/x 4 5", [[0, 1, 2], ["x", 4, 5]]),
    ("3x3", "1 0 2/3 4 5/6 7 8", "0 1 2/3 4 5/6 7 8", [[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
    ("hexagram", "WWWWWWSBBBBBB", "BBBBBBSWWWWWW", "BBBBBBSWWWWWW"),
    ("pancake-9", "213456789", "123456789", "123456789"),
]


@swept(("config", "board", "goal", "written"), GOALS, few=3)
def test_a_solution_names_its_goal(config, board, goal, written):
    """In the notation of each kind."""
    (value,) = values("solve", CONFIGS / f"{config}.toml", board)
    said = invoke("solve", CONFIGS / f"{config}.toml", board).stdout.splitlines()[0]
    solution = frontier.solve(CONFIGS / f"{config}.toml", board)
    assert value["goal"] == written == solution.puzzle.write(solution.goal)
    assert f" to {goal}" in said


def test_a_solution_names_the_goal_that_is_reached():
    """Of several goals, and of goals with open cells."""
    several = 'puzzle.goals=["0 1 2/3 4 5", "1 2 0/3 4 5"]'
    for setting, board, goal in (
        (several, "1 2 5/3 4 0", "1 2 0/3 4 5"),
        (several, "3 1 2/0 4 5", "0 1 2/3 4 5"),
        ('puzzle.goal="? ? ?/? 0 ?"', "1 2 5/3 4 0", "1 2 5/3 0 4"),
    ):
        said = invoke("solve", CONFIGS / "2x3.toml", board, "--set", setting).stdout
        assert said.splitlines()[0].endswith(f" to {goal}")


def test_a_config_edited_after_its_run_is_refused(tmp_path):
    """Only what differs in its puzzle is named; how the layers are stored is no matter."""
    where = f'[store]\npath = "{tmp_path / "run"}"\n[cluster]\nkind = "serial"\n'
    config = tmp_path / "mine.toml"
    config.write_text((CONFIGS / "2x3.toml").read_text() + where)
    invoke("run", config, "--set", "search.keep=all")
    config.write_text(
        (CONFIGS / "2x3.toml").read_text() + 'metric = "multi"\nstart = "1 0 2/3 4 5"\n'
    )
    with config.open("a") as file:
        file.write(where)
    for arguments in (["run"], ["status"], ["farthest"]):
        message = invoke(arguments[0], config, *arguments[1:], code=2).stderr
        assert f"{tmp_path / 'run'} was made by a different config: " in message
        assert "there puzzle.metric = 'step', here puzzle.metric = 'multi'" in message
        assert "there no puzzle.start, here puzzle.start = '1 0 2/3 4 5'" in message
        assert "rows" not in message
        assert len(message.splitlines()) == 1
    # What is asked is the config's puzzle, whatever the run is of.
    (value,) = values("solve", config, "1 2 0/3 4 5")
    assert (value["distance"], value["method"]) == (1, "databases")
    config.write_text((CONFIGS / "2x3.toml").read_text() + where + "[search]\nuntil = 3\n")
    other = "--set", "store.codec=raw", "--set", "search.keep=frontier"
    assert "0 1 2/3 4 5: 0 moves" in invoke("solve", config, "0 1 2/3 4 5", *other).stdout
    assert "complete" in invoke("status", config).stdout
    assert "codec" in invoke("run", config, *other, code=2).stderr


@pytest.mark.parametrize("method", ["ida", "layers"])
def test_ctrl_c_in_solve(run, monkeypatch, method):
    """Nothing is committed there, so nothing is said of that."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("frontier.solving.pieces.IdaSolver.solve", interrupted)
    monkeypatch.setattr("frontier.solving.oracle.Oracle.solve", interrupted)
    result = invoke("solve", run, "0 1 2 3/4 5 6 7", "--method", method, code=3)
    assert result.stderr.splitlines()[1:] == ["frontier: interrupted"]


def test_settings_do_not_change_a_run_directory(run):
    board = "0 1 2 3/4 5 6 7"
    message = refused("solve", run, board, "--method", "ida", "--set", "puzzle.metric=multi")
    assert "is a run directory" in message


def test_a_board_is_read_in_the_notation_of_a_config():
    text = invoke("solve", "2x3", "1 2 5/3 4 0").stdout
    assert invoke("solve", "2x3", "[[1,2,5],[3,4,0]]").stdout == text


def test_a_refusal_shows_a_board_as_typed():
    assert "board = 1 2 3/4 5:" in invoke("solve", "3x3", "1 2 3/4 5", code=2).stderr
    assert "board = 1 2 3/4 5 5:" in invoke("solve", "2x3", "1 2 3/4 5 5", code=2).stderr
    assert "board = [[1, 2], [3]]:" in invoke("solve", "2x3", "[[1,2],[3]]", code=2).stderr


def test_memory_for_databases_is_a_size_with_a_unit(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    board = "1 2 3 / 4 5 6 / 0 7 8"
    assert ": 2 moves" in invoke("solve", "8-puzzle", board, "--memory", "0.1GB").stdout
    for size in ("0kB", "1XB"):
        refused("solve", "8-puzzle", board, "--memory", size)
    with frontier.solver(CONFIGS / "8-puzzle.toml", memory="0.1GB") as solver:
        assert solver.distance(board) == 2
    with pytest.raises(InputError, match="memory = '1XB'"):
        frontier.solver(CONFIGS / "8-puzzle.toml", memory="1XB")
