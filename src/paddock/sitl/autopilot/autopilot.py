"""The built-in autopilot of one vehicle: sensors in, actuator commands out, and everything that people may ask of it.

Every exchange runs the estimator and the craft's control; every 20 ms of simulated time the slow loop decides: battery,
home, failsafes, fence, mode, telemetry. What it believes comes from the sensors alone, so it runs on every simulator.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path

import numpy as np

from paddock.errors import InvalidValueError
from paddock.sitl import actuators
from paddock.sitl.actuators import ActuatorCommands
from paddock.sitl.autopilot import plans, position_target, reporting
from paddock.sitl.autopilot.answer import ACCEPTED, Answer, Result
from paddock.sitl.autopilot.arming import Arming
from paddock.sitl.autopilot.battery import Battery
from paddock.sitl.autopilot.commands import carry_out
from paddock.sitl.autopilot.common_parameters import parameters_of
from paddock.sitl.autopilot.craft import Craft
from paddock.sitl.autopilot.crafts import find_craft
from paddock.sitl.autopilot.estimate import ESTIMATE_WIDTH, Estimate
from paddock.sitl.autopilot.estimator import Estimator
from paddock.sitl.autopilot.failsafe import Failsafes
from paddock.sitl.autopilot.fence import Fence
from paddock.sitl.autopilot.health import Health
from paddock.sitl.autopilot.home import Home
from paddock.sitl.autopilot.local_frame import LocalFrame
from paddock.sitl.autopilot.mission import MissionExecutor
from paddock.sitl.autopilot.mission_item import Frame, MissionItem, PlanKind
from paddock.sitl.autopilot.mode import Mode
from paddock.sitl.autopilot.notices import Notice, Severity, StatusText
from paddock.sitl.autopilot.rc import RcInput
from paddock.sitl.autopilot.sim_switches import SimSwitches
from paddock.sitl.autopilot.targets import GuidedTarget, Sticks
from paddock.sitl.autopilot.telemetry import Landed, Telemetry
from paddock.sitl.autopilot_contract import Autopilot
from paddock.sitl.sensor_data import Floats, SensorColumns, SensorData, empty_block

SLOW_PERIOD_US = 20_000
LONGEST_STEP = 0.1  # s: after a gap, control goes on as if it had been this long
REFUSALS_US = 5_000_000  # between two lines about refused orders
OUTBOX_LENGTH = 200  # notices that nobody takes are forgotten from the oldest on
NOWHERE = Estimate(*([0.0] * ESTIMATE_WIDTH))


class BuiltInAutopilot(Autopilot):
    """One vehicle's autopilot. Used by one thread: the one that ticks."""

    kind = "builtin"

    def __init__(
        self,
        sysid: int,
        craft: str | type[Craft],
        parameters: Mapping[str, float] | None = None,
        folder: Path | None = None,
        use_truth: bool = False,
    ) -> None:
        """`parameters` beat those that a file in `folder` keeps; `use_truth`: ground truth instead of the estimator."""
        super().__init__()
        self.on_text: Callable[[Severity, str], None] | None = None  # also told every line for people
        if not 1 <= sysid <= 254:
            raise InvalidValueError(f"system id {sysid}: valid are 1 to 254")
        kind = find_craft(craft) if isinstance(craft, str) else craft
        self.sysid = sysid
        self.parameters = parameters_of(kind, sysid, folder, lambda text: self.say(Severity.ERROR, text))
        unknown = self.parameters.load()
        self.parameters.override(parameters or {})
        self._switches = SimSwitches(self.parameters)
        self.estimator = Estimator(use_truth=use_truth)
        self._kind = kind
        self.plans: dict[PlanKind, tuple[MissionItem, ...]] = dict.fromkeys(PlanKind, ())
        self._begin()
        for name in unknown:
            self.say(Severity.WARNING, f"Parameter {name}: kept value ignored")

    def _begin(self) -> None:
        """Everything that a reboot forgets; parameters and plans stay."""
        self.now_us = 0
        self.estimate = NOWHERE
        self.sensors = SensorColumns(*empty_block(1)[0].tolist())
        self.armed = False
        self._standing = self.estimator.standing = False
        self.guided = GuidedTarget()
        self.outbox: deque[Notice] = deque(maxlen=OUTBOX_LENGTH)
        self.telemetry = Telemetry()
        self._actuators = ActuatorCommands(np.zeros(actuators.WIDTH))
        self.commands: Floats = self._actuators.row
        self._control_us = self._slow_us = -1  # when they last ran
        self._complained_us = -REFUSALS_US
        self.paused: int | None = None  # the mode that DO_PAUSE_CONTINUE goes on with
        self.reboot_wanted = False
        self.battery, self.health, self.rc = Battery(self), Health(self), RcInput(self)
        self.homes, self.arming = Home(self), Arming(self)
        self.fence, self.failsafes = Fence(self), Failsafes(self)
        self.craft: Craft = self._kind(self)
        self.executor = MissionExecutor(self)
        self.fence.use(self.plans[PlanKind.FENCE])
        self.mode: Mode = self.craft.modes[self.craft.first_mode](self)
        self.mode.enter()

    # pilot -----------------------------------------------------------------------------------------------------------

    @property
    def live(self) -> bool:
        """It is always there."""
        return True

    @property
    def period_us(self) -> int:
        """The craft's control period, or such a part of it that no sample of a faster IMU is missed."""
        control = self.craft.control_period_us
        parts = ceil(control / (self.sensor_period_us or control))
        return ceil(control / parts)

    def open(self) -> None:
        """Nothing to open."""
        self.status.connected = True

    def close(self) -> None:
        """Nothing to let go of."""
        self.status.connected = False

    def reset(self) -> None:
        """As after power-on: parameters and plans stay, everything else is forgotten."""
        self.estimator.reset()
        self._begin()

    def offer(self, sensors: SensorData) -> None:
        """Estimate, control, and every 20 ms decide."""
        row = self._switches.seen(sensors.row)
        now = int(row[0])
        if now < self.now_us or self.reboot_wanted:
            self.reset()
        self.now_us = now
        self.estimator.update(row)
        if self._slow_us < 0 or now - self._slow_us >= SLOW_PERIOD_US:
            self._decide(row, now)
        if self._control_us < 0 or now - self._control_us >= self.craft.control_period_us:
            self._control(row, now)
        self.status.exchanges += 1

    def collect(self, timeout: float) -> ActuatorCommands:
        """The actuator commands, at once."""
        return self._actuators

    def _control(self, row: Floats, now: int) -> None:
        dt = (now - self._control_us) * 1e-6 if self._control_us >= 0 else self.craft.control_period_us * 1e-6
        self._control_us = now
        self.craft.control(self.estimator.row, row, min(dt, LONGEST_STEP), self.commands)
        self.commands[0] = self.armed

    def _decide(self, row: Floats, now: int) -> None:
        """The slow loop."""
        dt = min((now - self._slow_us) * 1e-6, LONGEST_STEP) if self._slow_us >= 0 else SLOW_PERIOD_US * 1e-6
        self._slow_us = now
        self.estimate = Estimate(*self.estimator.row.tolist())
        self.sensors = SensorColumns(*row.tolist())
        self.battery.update(dt)
        self.rc.update()
        self.health.update()
        self.homes.update()
        self.arming.update()
        self.failsafes.update(dt)
        self.fence.update()
        self.mode.update(dt)
        self.craft.update_landed(dt)
        self._stand()
        reporting.fill(self)

    def _stand(self) -> None:
        """Tell the estimator when the vehicle certainly does not move; an aeroplane may begin in the air."""
        standing = not self.armed and self.telemetry.landed == Landed.ON_GROUND and self.craft.kind != "plane"
        if standing is not self._standing:
            self._standing = self.estimator.standing = standing

    # what it knows ---------------------------------------------------------------------------------------------------

    @property
    def frame(self) -> LocalFrame | None:
        """The estimator's origin; None before the first good position."""
        return self.estimator.frame

    @property
    def sticks(self) -> Sticks:
        """The pilot's inputs."""
        return self.rc.sticks

    @property
    def home(self) -> tuple[float, float, float] | None:
        """Latitude and longitude (deg), altitude (m above sea level); None before the first good position."""
        return self.homes.place

    def home_ned(self) -> tuple[float, float, float]:
        """Home in the local frame, m; the origin while there is no home."""
        return self.homes.ned()

    def return_point(self) -> tuple[float, float, float]:
        """The nearest rally point, or home, in the local frame, m."""
        return self.homes.return_point()

    def say(self, severity: Severity, text: str) -> None:
        """A line for people."""
        self.outbox.append(StatusText(severity, text))
        if self.on_text is not None:
            self.on_text(severity, text)

    def complain(self, text: str) -> None:
        """A line about an order that is refused, but not about each of a stream of them."""
        if self.now_us - self._complained_us >= REFUSALS_US:
            self._complained_us = self.now_us
            self.say(Severity.WARNING, text)

    # what it is told -------------------------------------------------------------------------------------------------

    def set_mode(self, number: int, reason: str = "") -> Answer:
        """Change the mode; the mode stays as it is unless accepted. `reason` is said with the new mode's name."""
        kind = self.craft.modes.get(number)
        if kind is None:
            return Answer(Result.DENIED, f"Mode {number}: a {self.craft.kind} has no such mode")
        if kind is type(self.mode):
            return ACCEPTED
        mode = kind(self)
        refusal = self._mode_refusal(mode)
        if refusal:
            return Answer(Result.TEMPORARILY_REJECTED, f"Mode {mode.name}: {refusal}")
        self.mode.leave()
        self.mode = mode
        mode.enter()
        if reason:
            self.say(Severity.INFO, f"Mode {mode.name}: {reason}")
        return ACCEPTED

    def _mode_refusal(self, mode: Mode) -> str:
        """Only an armed vehicle needs what the mode needs: a disarmed one waits in it for its position."""
        if self.armed and mode.needs_position and not self.estimate.position_ok:
            return "no position"
        return mode.refusal()

    def mode_number(self, name: str) -> int | None:
        """The number of this craft's mode of that name; None if it has none."""
        return next((number for number, kind in self.craft.modes.items() if kind.name == name), None)

    def arm(self, force: bool = False) -> Answer:
        """Let motors turn, if the checks agree."""
        return self.arming.arm(force)

    def disarm(self, force: bool = False) -> Answer:
        """Stop the motors; in the air only with `force`."""
        return self.arming.disarm(force)

    def accept_plan(self, kind: PlanKind, items: Sequence[MissionItem]) -> tuple[int, int]:
        """Take a whole plan: MAV_MISSION_RESULT and the index of the offending item; replaces the plan only with 0."""
        return plans.accept(self, kind, tuple(items))

    def check_item(self, kind: PlanKind, item: MissionItem) -> int:
        """MAV_MISSION_RESULT of a single item, while an upload runs."""
        return plans.check(self, kind, item)

    def set_current(self, seq: int) -> Answer:
        """Go on with that item of the mission."""
        return self.executor.set_current(seq)

    def command(self, command: int, p: Sequence[float], frame: int = Frame.RELATIVE) -> Answer:
        """Carry out a MAV_CMD with 7 parameters; p[4], p[5] are latitude and longitude in deg where it has a place."""
        return carry_out(self, command, p, frame)

    def position_target(self, guided: GuidedTarget) -> Answer:
        """A new order for GUIDED; refused (and said) in other modes, or if it makes no sense."""
        return position_target.take(self, guided)

    def manual(self, sticks: Sticks) -> None:
        """The pilot's inputs from a joystick."""
        self.rc.manual(sticks)

    def manual_control(self, x: int, y: int, z: int, r: int) -> None:
        """The pilot's inputs as MANUAL_CONTROL has them, each -1000 to 1000 (32767: not given)."""
        self.rc.manual_control(x, y, z, r)

    def rc_override(self, pwm: Sequence[int]) -> None:
        """RC channels in us: 0 released, 65535 unchanged."""
        self.rc.override(pwm)

    def heard_gcs(self, now_us: int) -> None:
        """A ground station's heartbeat."""
        self.failsafes.heard_gcs(now_us)
