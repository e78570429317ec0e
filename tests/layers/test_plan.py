"""What plans decide: on other hosts than this one, and about lists."""

from frontier import machine
from frontier.config.schema import ClusterTable
from frontier.layers.plan import THIN_STATES, make_plan
from frontier.layers.policy import Policy
from tests.support.sweeps import swept
from tests.support.tile_runs import config_of

ELSEWHERE = [
    {"kind": "address", "address": "tcp://there:1"},
    {"kind": "slurm", "options": {"interface": "lo"}},
]


@swept("cluster", ELSEWHERE, few=1)
def test_other_hosts_search_by_tasks(tmp_path, cluster):
    config = config_of(tmp_path, 2, 5, search={"in_memory": True})
    assert make_plan(config).in_memory
    there = config.model_copy(update={"cluster": ClusterTable(**cluster, memory="4GB")})
    plan = make_plan(there)
    assert not plan.in_memory
    assert plan.mode_in_words == "by tasks, from disk to disk"


@swept("cluster", ELSEWHERE, few=1)
def test_lists_fit_the_host_of_the_driver(tmp_path, monkeypatch, cluster):
    """Which may have less memory than one of the workers."""
    config = config_of(tmp_path, 2, 8)
    config = config.model_copy(update={"cluster": ClusterTable(**cluster, memory="4GB")})
    states = []
    for memory in (64_000_000_000, 4_000_000_000, 1_000_000_000):
        monkeypatch.setattr(machine, "memory", lambda memory=memory: memory)
        states.append(make_plan(config).list_states)
    assert states[0] > states[1] > states[2] == THIN_STATES


def test_a_layer_that_will_be_large_is_no_list():
    """Where layers grow by ten, the layer after two thin ones is not thin."""
    policy = Policy(list_states=1000, in_memory=True)
    assert [policy.mode(*states) for states in ((1,), (100, 300), (300, 100), (1, 31))] == (
        ["lists"] * 4
    )
    assert [policy.mode(*states) for states in ((100, 400), (1, 32), (1001, 1), (1001,))] == (
        ["memory"] * 4
    )
