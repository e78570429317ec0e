"""The protocol by which a run is written: every order of steps, in small (`protocol.py`)."""

import re
from importlib import import_module

import pytest

from tests.layers import protocol, protocol_tasks
from tests.layers.protocol_states import Leg, Scenario, Violation
from tests.support.sweeps import swept

STOPPED = Leg(), Leg()
NEVER = Leg(forced=False)
LOST = Leg(ends="power")

SCENARIOS = {
    "kills": Scenario((Leg(), Leg(), Leg())),
    "kills, two workers": Scenario(workers=2),
    "kills, three tasks a layer": Scenario(tasks=3, last=2),
    "kills, four layers": Scenario(last=4),
    "workers die": Scenario((Leg(),), workers=2, dying=1),
    "tasks are done twice": Scenario((Leg(),), workers=2, twice=1, last=2),
    "a zombie": Scenario(STOPPED, zombies=1),
    "a zombie, two workers": Scenario(STOPPED, workers=2, zombies=1),
    "a zombie, three tasks a layer": Scenario(STOPPED, tasks=3, zombies=1),
    "a zombie of two legs": Scenario((Leg(), Leg(), Leg()), zombies=1, last=2),
    "a zombie, spare layers later": Scenario((Leg(), Leg(spare=1)), zombies=1),
    "a zombie, spare layers before": Scenario((Leg(spare=1), Leg()), zombies=1),
    "a zombie, spare layers before and later": Scenario(
        (Leg(spare=1), Leg(), Leg(spare=1)), zombies=1
    ),
    "a zombie, in memory later": Scenario((Leg(), Leg(tasks=False)), zombies=1),
    "in memory": Scenario((Leg(tasks=False), Leg(tasks=False), Leg())),
    "fresh, a zombie": Scenario((Leg(), Leg(fresh=True)), zombies=1),
    "fresh, a zombie, spare layers": Scenario((Leg(), Leg(fresh=True, spare=1)), zombies=1),
    "fresh, killed": Scenario((Leg(), Leg(fresh=True), Leg()), last=2),
    "power": Scenario((LOST, Leg()), workers=2),
    "power twice": Scenario((LOST, LOST, Leg()), last=2),
    "power, in memory": Scenario((Leg(tasks=False, ends="power"), Leg(tasks=False))),
    "power, tasks are done twice": Scenario((LOST, Leg()), dying=1),
    "power, fresh": Scenario((Leg(), Leg(fresh=True, ends="power"), Leg()), last=2),
    "power, fresh again": Scenario((Leg(), Leg(True, ends="power"), Leg(True)), last=2),
    "power after a leg that forced nothing": Scenario((NEVER, LOST, Leg())),
    "power in a leg that forces nothing": Scenario((NEVER._replace(ends="power"), NEVER), last=1),
    "damage": Scenario((Leg(hurt=True), Leg())),
    "damage, repaired": Scenario((Leg(hurt=True), Leg(repaired=True))),
    "damage, spare layers, repaired": Scenario(
        (Leg(spare=2, hurt=True), Leg(spare=2, repaired=True)), last=5
    ),
}

MISTAKES = {
    "committed before all tasks are done": ("kills", "a part is lost"),
    "forgotten too early": ("kills", "a part is lost"),
    "given up before it is replaced": ("kills", "a part is lost"),
    "parts under way are swept": ("kills", "a part is lost"),
    "a missing part is read as an empty one": ("a zombie", "a part is wrong"),
    "a layer that was begun is abandoned": ("a zombie", "a part is lost"),
    "nobody looks again": ("a zombie", "a task fails"),
    "spare layers fade": ("a zombie, spare layers later", "a part is lost"),
    "memory does not give way to tasks": ("a zombie, in memory later", "refused"),
    "runs have no identifier": ("fresh, a zombie, spare layers", "a part is lost"),
    "parts are not forced": ("power", "a part is lost"),
    "names of parts are not forced": ("power", "a part is lost"),
    "folders of layers are not forced": ("power", "refused"),
    "given up before the new part is forced": ("power", "refused"),
    "a part that is there is not forced": ("power, tasks are done twice", "a part is lost"),
    "the run's own name is not forced": ("power", "announced is lost"),
    "what is deleted is not forced": ("power, fresh again", "refused"),
    "earlier legs are not forced": ("power after a leg that forced nothing", "announced is lost"),
    "a part that is there is not read": ("damage", "a damaged part is committed"),
}
"""What must be noticed: (in which scenario, as what)."""


@swept(
    "name",
    SCENARIOS,
    few=["kills, two workers", "damage, repaired"],
)
def test_every_order_of_steps(name):
    """And kills, power losses and workers left over at any moment."""
    assert protocol.states_of(SCENARIOS[name]) > 100


QUICK = [mistake for mistake, (name, _) in MISTAKES.items() if name in ("kills", "damage", "power")]


@pytest.mark.sweep
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_protocol_is_noticed(mistake):
    name, what = MISTAKES[mistake]
    with pytest.raises(Violation, match=what):
        protocol.states_of(SCENARIOS[name]._replace(broken=mistake))


def test_all_mistakes_are_tried():
    there = set()
    for module in (protocol, protocol_tasks):
        with open(module.__file__) as file:
            there |= set(re.findall(r'broken\("([^"]+)"\)', file.read()))
    assert there == MISTAKES.keys()


MODULES = (
    "layers.loop", "layers.in_process", "layers.by_tasks", "executors.dask_executor",
    "layers.task", "layers.repair", "layers.verify", "layers.events", "layers.run",
    "layers.parts", "layers.reader", "layers.stored", "runs.directory", "runs.copies",
    "runs.stored_run", "runs.kind", "runs.drive", "layers.search",
)  # fmt: skip


def test_each_step_stands_for_a_part_of_the_program():
    """The table names what there is, and every step of the model but those of a commit."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", protocol.__doc__, re.MULTILINE)[2:]
    modules = [import_module(f"frontier.{name}") for name in MODULES]
    for _, program in rows:
        for name in re.findall(r"`([\w.]+)`", program):
            first, *rest = name.split(".")
            (found, *_) = [vars(module)[first] for module in modules if first in vars(module)]
            for attribute in rest:
                found = getattr(found, attribute)
    steps = {step.replace(" ", "_") for row, _ in rows for step in row.split(", ")}
    model = protocol.Model(SCENARIOS["kills"])
    assert {
        s for s in steps if not any(hasattr(model, p + s) for p in ("", "_", "_task_"))
    } == set()
