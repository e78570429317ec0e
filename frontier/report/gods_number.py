"""The results of a search for God's number, as JSON and as text."""

from collections.abc import Iterator
from dataclasses import asdict

from frontier.cosets.progress import bounds_words, last_layers
from frontier.cosets.resources import CosetPlan
from frontier.cosets.results import witness_of
from frontier.cosets.run import CosetRun
from frontier.cosets.sampling import Sample
from frontier.puzzles import Board
from frontier.report.boards import draw_boards
from frontier.runs.log import total_seconds
from frontier.text import brief, counted, named, near, size, span

DRAWN = 10
"""The greatest number of farthest positions to draw."""


def describe_gods_number(run: CosetRun, value: dict, at_most: int | None = None) -> str:
    """Return the results of a search as text. at_most: the upper bound to prove, if one was
    given."""
    puzzle, (row, column) = run.region.puzzle, _home(run)
    lines = [
        f"{named(value['name'], value['puzzle']['title'])}, the blank's home in [{row}, {column}]"
    ]
    lines.append(f"  God's number: {bounds_words(value['lower'], value['upper'])}")
    if at_most is not None:
        answer = "yes" if value["upper"] <= at_most else "no"
        if value["lower"] <= at_most < value["upper"]:
            answer = "not known yet"
        lines.append(f"  all positions take at most {counted(at_most, 'move')}: {answer}")
    for layer in value["layers"]:
        lines.append(f"  {counted(layer['count'], 'position')} at depth {layer['depth']}")
    if value["witness"] and not value["known"]:
        lines.append(f"  the position below needs {value['witness']['at_least']} moves or more")
    total = total_seconds(run.storage)
    in_all = "" if total is None else f", in all: {span(total)}"
    cosets = sum(question["cosets"] for question in value["questions"])
    lines.append(
        f"  {counted(cosets, 'coset')} searched, {span(value['seconds'])} of processor time"
        f"{in_all}, in {near(str(run.path))}"
    )
    _, boards = drawn(run)
    if boards and (value["layers"] or not value["known"]):
        lines += ["", draw_boards(puzzle, boards)]
        if value["layers"] and (more := value["layers"][0]["count"] - len(boards)) > 0:
            lines += ["", f"… and {more:,} more (`farthest` prints them)"]
    return "\n".join(lines)


def drawn(run: CosetRun) -> tuple[str, list[Board]]:
    """Return the heading of the boards to draw, and the boards."""
    if layers := last_layers(run):
        depth, positions = layers[0]
        boards = [position.board for position in positions[:DRAWN]]
        first = "" if len(boards) == len(positions) else f", the first {len(boards)}"
        return f"{counted(len(positions), 'farthest position')}, at depth {depth}{first}", boards
    if run.proof and (witness := witness_of(run)):
        heading = f"A position that needs {witness.limit + run.proof.period} moves or more"
        return heading, [witness.board]
    return "The farthest positions are not known yet", []


def _home(run: CosetRun) -> tuple[int, int]:
    puzzle = run.region.puzzle
    return divmod(puzzle.goals[0].index(0), puzzle.grid.columns)


Samples = tuple[int, list[Sample]] | None
"""The limit of the next question, and a sample of its cosets at each distance."""


def plan_value(plan: CosetPlan, samples: Samples) -> dict:
    """Return the resources of a search as JSON."""
    region = plan.region
    value = {
        "name": plan.config.name,
        "puzzle": {"title": region.puzzle.title, **plan.config.puzzle_settings},
        "region": region.name,
        "labelled": region.labelled,
        "patterns": region.patterns,
        "boards": region.boards,
        "groups": list(plan.groups),
        "bytes": plan.bytes,
        "bytes_here": plan.room,
        "fits": plan.refusal is None,
        "refusal": plan.refusal,
        "most_cosets_of_a_question": plan.most_cosets,
    }
    if samples:
        limit, of_distances = samples
        value["next_question"] = {
            "limit": limit,
            "seconds": sum(of.all_seconds for of in of_distances),
            "at_least": not all(of.whole for of in of_distances),
            "distances": list(map(asdict, of_distances)),
        }
    return value


def describe_plan(plan: CosetPlan, samples: Samples, verbose: bool = False) -> str:
    """Return the resources of a search as text. verbose: True to add its region and databases."""
    region, groups = plan.region, " + ".join(map(str, plan.groups))
    lines = [
        named(plan.config.name, region.puzzle.title),
        f"  memory: about {size(plan.bytes)} while tables are made, of {size(plan.room)} "
        "available here",
    ]
    if samples:
        lines += _sampled_lines(*samples)
    else:
        lines.append("  time: unknown until the tables exist")
    if verbose:
        lines += [
            f"  region {region.name}: {counted(region.boards, 'board')}; "
            f"{counted(region.labelled, 'labelled tile')} outside it, {region.patterns:,} patterns",
            f"  databases of groups of {groups} tiles",
            f"  cosets: at most {plan.most_cosets:,} a question",
        ]
    return "\n".join([*lines, *([f"  DOES NOT FIT HERE: {plan.refusal}"] if plan.refusal else [])])


def _sampled_lines(limit: int, samples: list[Sample]) -> Iterator[str]:
    """Generate the lines about the next question."""
    cosets = sum(of.cosets for of in samples)
    total = brief(sum(of.all_seconds for of in samples))
    least = "" if all(of.whole for of in samples) else "at least "
    yield (
        f"  next question: which positions need more than {limit} moves? "
        f"{counted(cosets, 'coset')}, {least}{total} of one processor, from a sample:"
    )
    row = "  {:>18} {:>12} {:>9} {:>12} {:>14} {:>12}"
    yield row.format("pattern's distance", "cosets", "sampled", "each", "left open each", "all")
    for of in samples:
        sign = "" if of.whole else "> "
        yield row.format(
            of.distance, f"{of.cosets:,}", of.searched, sign + brief(of.seconds), f"{of.left:,.1f}",
            sign + brief(of.all_seconds),
        )  # fmt: skip
