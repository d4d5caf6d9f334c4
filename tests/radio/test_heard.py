"""What was heard: urges of heard neighbours equal those of seen ones, targets, numbers of messages."""

import numpy as np
import pytest

from paddock.behaviour.rule import find_rule
from paddock.compute.neighbours import NeighbourGrid
from paddock.radio.packets.queues import (
    MAIL_ARRIVED,
    MAIL_NUMBERS,
    MAIL_REAL,
    MAIL_SENT,
    MAIL_VALUES,
)
from paddock.radio.packets.state import HEARD_STATES, PREDICTED, FleetHeard, heard_targets, newest_numbers, visit_heard
from paddock.world.columns import Pose, defaults_of


def fleet(n: int, ages: float = 0.0, slots: int = 1) -> tuple[np.ndarray, FleetHeard]:
    """Return random poses, and what vehicles have heard: the states of all others `ages` (s) ago."""
    draw = np.random.default_rng(1)
    poses = np.zeros((len(Pose._fields), n))
    poses[:3] = draw.uniform(-10.0, 10.0, (3, n))
    poses[6] = 1.0
    poses[7:10] = draw.uniform(-3.0, 3.0, (3, n))
    who = np.full((n * slots, n), -1, np.int64)
    states = np.zeros((n * slots, n, 11))
    before = poses.copy()
    before[:3] -= poses[7:10] * ages
    for i in range(n):
        for j in range(n):
            if i != j:
                who[i * slots, j], states[i * slots, j, 0], states[i * slots, j, 1:] = (
                    j * slots,
                    5.0 - ages,
                    before[:10, j],
                )
    head, mails, mail = (
        np.zeros(n * slots, np.int64),
        np.zeros(n * slots, np.int64),
        np.zeros((n * slots, 4, 5), np.int64),
    )
    return poses, FleetHeard(5.0, 1.0, 0, slots, n, who, states, head, mails, mail, np.zeros((n * slots, 4, MAIL_REAL)))


@pytest.mark.parametrize(
    ("ages", "sees", "slots"), [(0.0, HEARD_STATES, 1), (0.0, HEARD_STATES, 2), (0.5, PREDICTED, 1)]
)
def test_neighbours_that_were_heard_count_as_seen_ones(ages: float, sees: float, slots: int) -> None:
    spec = find_rule("flock").neighbours
    assert spec is not None
    options, n = defaults_of(find_rule("flock").options), 12
    poses, heard = fleet(n, ages, slots)
    seen, received = np.zeros((3, n)), np.zeros((3, n))
    NeighbourGrid(spec).run(poses, n, 8.0, options, seen)
    visit_heard(spec, poses, heard, sees, 8.0, options, received)
    assert np.abs(seen).max() > 0.1
    assert received == pytest.approx(seen, abs=1e-9)


def test_states_that_are_too_old_do_not_count() -> None:
    spec = find_rule("flock").neighbours
    assert spec is not None
    options, mask = defaults_of(find_rule("flock").options), np.ones((3, 5))
    poses, heard = fleet(5, 1.1)
    visit_heard(spec, poses, heard, HEARD_STATES, 50.0, options, mask)
    assert (mask == 0.0).all()


def test_targets_as_heard_and_predicted() -> None:
    poses, heard = fleet(4, 0.5)
    rows, aims = np.arange(3), np.array([3, 3, 77])
    as_heard, columns = heard_targets(heard, rows, aims, HEARD_STATES, 13)
    assert columns.tolist() == [0, 1, -1]
    assert as_heard[:3, 0] == pytest.approx(poses[:3, 3] - 0.5 * poses[7:10, 3])
    predicted, _ = heard_targets(heard, rows, aims, PREDICTED, 13)
    assert predicted[:10, 1] == pytest.approx(poses[:10, 3])


def test_the_newest_numbers_that_have_arrived() -> None:
    _, heard = fleet(2)
    for k, (sent, arrived, count) in enumerate([(1.0, 2.0, 2), (3.0, 4.0, 2), (4.0, 4.5, 0), (4.0, 9.0, 2)]):
        heard.mail[1, k, MAIL_NUMBERS] = count
        heard.mail_real[1, k, MAIL_SENT], heard.mail_real[1, k, MAIL_ARRIVED] = sent, arrived
        heard.mail_real[1, k, MAIL_VALUES : MAIL_VALUES + 2] = [k, 10 * k]
    heard.mails[1] = 4
    out = np.full((3, 2), -1.0)
    newest_numbers(np.arange(2), heard, 1, out)  # the second column is the age
    assert out[:, 0].tolist() == [-1.0, -1.0, -1.0]
    assert out[:, 1].tolist() == [1.0, 2.0, 10.0]
