"""Operations on the radio: jammers and budgets of links."""

from concurrent.futures import Future
from typing import Any

from paddock.engine.actions import RadioAction
from paddock.engine.radio.control import RadioControl
from paddock.errors import PaddockError
from paddock.serve.live import LiveSource


def jammers(run: LiveSource, client: str) -> list[dict[str, Any]]:
    found = run.sim.radio
    return [] if found is None else [one._asdict() for one in found.jammers()]


def set_jammer(run: LiveSource, client: str, name: str, **changes: Any) -> Future[Any]:
    """Validate a change now; it is applied between two ticks."""
    engine = run.sim.engine
    given = {key: value for key, value in changes.items() if value is not None}
    action = engine.applier.checked(RadioAction("jammer", {"name": name, **given}))
    return run.answer(lambda: engine.apply_or_post(action, "set_jammer()", source=client))


def link_budget(run: LiveSource, client: str, source: str, to: str) -> dict[str, Any]:
    return _radio(run).link(source, to)._asdict()


def _radio(run: LiveSource) -> RadioControl:
    if run.sim.radio is None:
        raise PaddockError("there is no radio: add a section `radio: {}` to the scenario")
    return run.sim.radio
