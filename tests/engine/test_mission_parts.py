"""Routes in parts: sizes, order, what reports say about incomplete routes, and which parts are sent again."""

import numpy as np
import pytest

from paddock.engine.mission.parts import WINDOW, Inboxes, Outbox
from paddock.errors import PaddockError
from paddock.world.parts import fresh
from paddock.world.state import load, save


def outbox(mtu: int = 100, vehicles: int = 3) -> Outbox:
    box = fresh(Outbox, most_bits=8 * mtu)
    box.grow(vehicles)
    return box


def sent(box: Outbox, room: int, not_yet: tuple[int, ...] = ()) -> list[tuple[int, int, int]]:
    """Return row, part and bits of the packets that go out."""
    parts = box.take(room, not_yet)
    return list(zip(parts.rows.tolist(), parts.part.tolist(), parts.bits.tolist(), strict=True))


def deliver(inboxes: Inboxes, parts: range | list[int], count: int, number: int = 1, row: int = 0) -> list[bool]:
    return [inboxes.take(row, number, part, count) for part in parts]


def report(inboxes: Inboxes, row: int = 0) -> list[int]:
    return [int(value) for value in inboxes.reception(np.array([row]))[0]]


def test_a_route_is_cut_at_the_mtu_and_the_rest_waits_for_room() -> None:
    """250 bytes at 100 bytes are 100, 100 and 50; 100 bytes are one packet, 101 are two."""
    box = outbox()
    for row, size in ((2, 250), (0, 100), (1, 101)):
        box.announce(row, 1, 8 * size)
    assert sent(box, 2) == [(2, 0, 800), (2, 1, 800)]
    assert sent(box, 0) == []
    assert sent(box, 9) == [(2, 2, 400), (0, 0, 800), (1, 0, 800), (1, 1, 8)]
    assert sent(box, 9) == []


def test_routes_under_negotiation_wait_and_others_pass_them() -> None:
    box = outbox()
    box.announce(0, 1, 800)
    box.announce(1, 1, 800)
    assert sent(box, 9, not_yet=(0,)) == [(1, 0, 800)]
    assert sent(box, 9) == [(0, 0, 800)]


def test_a_newer_route_replaces_what_waits_and_what_has_arrived() -> None:
    box, inboxes = outbox(), fresh(Inboxes)
    box.announce(0, 1, 8 * 400)
    assert len(sent(box, 2)) == 2
    box.announce(0, 2, 8 * 150)
    assert sent(box, 9) == [(0, 0, 800), (0, 1, 400)]
    assert deliver(inboxes, [0, 1], 4, number=1) == [False, False]
    assert deliver(inboxes, [1], 2, number=2) == [False]
    assert deliver(inboxes, [2, 3], 4, number=1) == [False, False]  # too late
    assert report(inboxes) == [2, 0, 0b10]
    assert deliver(inboxes, [0], 2, number=2) == [True]
    assert report(inboxes) == [0, 0, 0]


def test_only_missing_parts_are_sent_again() -> None:
    """Of ten parts 2, 3 and 7 are lost: the report says 2, and bits of 4, 5, 6, 8 and 9."""
    box, inboxes = outbox(), fresh(Inboxes)
    box.announce(0, 1, 8 * 1000)
    assert len(sent(box, 99)) == 10
    deliver(inboxes, [9, 8, 6, 5, 4, 1, 0], 10)
    assert report(inboxes) == [1, 2, sum(1 << part - 2 for part in (4, 5, 6, 8, 9))]
    box.repeat(0, report(inboxes))
    again = box.take(99, ())
    assert again.part.tolist() == [2, 3, 7] and again.again.all()
    assert deliver(inboxes, [3, 7], 10) == [False, False] and deliver(inboxes, [2], 10) == [True]


def test_a_report_describes_a_window_and_all_losses_are_found_in_turn() -> None:
    """Parts 3 and 60 of a hundred are lost: 60 is beyond the window from 3, and is found when 3 has arrived."""
    box, inboxes, rounds = outbox(), fresh(Inboxes), []
    box.announce(0, 1, 8 * 100 * 100)
    deliver(inboxes, [part for _, part, _ in sent(box, 200) if part not in (3, 60)], 100)
    while inboxes.routes:
        box.repeat(0, report(inboxes))
        rounds.append([part for _, part, _ in sent(box, 200)])
        deliver(inboxes, rounds[-1], 100)
    assert rounds == [[3], [60]] and 3 + WINDOW <= 60


def test_all_parts_are_sent_again_if_none_has_arrived() -> None:
    box, inboxes = outbox(), fresh(Inboxes)
    box.announce(0, 5, 8 * 300)
    sent(box, 9)
    box.repeat(0, report(inboxes))
    assert [part for _, part, _ in sent(box, 9)] == [0, 1, 2]


def test_every_random_loss_ends_with_a_complete_route() -> None:
    """Each part arrives with a probability of a half: the transmissions of n parts are 2 n on average."""
    chance, total, routes, parts = np.random.default_rng(4), 0, 60, 40
    for number in range(1, routes + 1):
        box, inboxes = outbox(), fresh(Inboxes)
        box.announce(0, number, 8 * 100 * parts)
        done = False
        while not done:
            going = [part for _, part, _ in sent(box, 200)]
            total += len(going)
            for part in going:
                if chance.random() < 0.5:
                    done |= inboxes.take(0, number, part, parts)
            box.repeat(0, report(inboxes))
    # a part takes 2 transmissions with a variance of 2
    assert total / (routes * parts) == pytest.approx(2.0, abs=4.0 * (2.0 / (routes * parts)) ** 0.5 + 0.02)


def test_saved_and_restored_in_order() -> None:
    box, inboxes = outbox(), fresh(Inboxes)
    for row in (2, 0):
        box.announce(row, 3, 8 * 350)
    sent(box, 1)
    deliver(inboxes, [0, 2], 3, row=1)
    again, boxes = outbox(vehicles=0), fresh(Inboxes)
    load(again, save(box))
    load(boxes, save(inboxes))
    assert sent(again, 99) == sent(box, 99)
    assert report(boxes, 1) == report(inboxes, 1) == [1, 1, 0b10]


@pytest.mark.parametrize(
    "waiting",
    [
        [[3, [[0], False]]],  # of three vehicles
        [[0, [[], False]]],
        [[0, [[4], False]]],  # of four parts
        [[0, [[1, 0], False]]],
        [[0, [[-1], False]]],
        [[0, [[0], False]], [0, [[1], True]]],
        [[0, [[0], 7]]],
    ],
)
def test_crafted_outboxes_are_refused(waiting: list[object]) -> None:
    box = outbox()
    box.announce(0, 1, 8 * 350)
    with pytest.raises(PaddockError):
        load(outbox(), {**save(box), "waiting": waiting})


@pytest.mark.parametrize(
    "saved",
    [
        [[-1, 1, np.array([False, True])]],
        [[0, 1, np.array([True, True])]],  # complete
        [[0, 1, np.array([0, 2], np.uint8)]],
        [[0, 0, np.array([False, True])]],
        [[0, 1, np.array([0.0, 1.0])]],
        [[0, 1, np.zeros((1, 0), bool)]],
    ],
)
def test_crafted_inboxes_are_refused(saved: list[object]) -> None:
    with pytest.raises(PaddockError):
        load(fresh(Inboxes), {"routes": saved})
