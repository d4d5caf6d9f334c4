"""What is left in the battery, and whether it is low: voltage under a limit for a while, or too little charge."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

LOW, CRITICAL = 1, 2
SECONDS_PER_HOUR = 3600.0


class Battery:
    """The battery as its monitor sees it. A level stays once reached: voltage recovers as soon as nobody draws."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        self.autopilot = autopilot
        self.consumed = nan  # mAh; NaN: not measured
        self.level = 0  # 0, LOW or CRITICAL
        self.reason = ""
        self._under = [0.0, 0.0, 0.0]  # s that the voltage has been under the limit of each level

    @property
    def present(self) -> bool:
        """Whether anything is measured."""
        return not isnan(self.autopilot.sensors.battery_voltage)

    @property
    def remaining(self) -> float:
        """mAh; NaN: not known."""
        capacity = self.autopilot.parameters.value("BATT_CAPACITY")
        share = self.autopilot.sensors.battery_remaining
        if not isnan(share):
            return share * capacity
        return capacity - self.consumed if capacity > 0.0 else nan

    def update(self, dt: float) -> None:
        """Count what is drawn, and watch the limits."""
        sensors = self.autopilot.sensors
        if not isnan(sensors.battery_remaining):
            self.consumed = (1.0 - sensors.battery_remaining) * self.autopilot.parameters.value("BATT_CAPACITY")
        elif not isnan(sensors.battery_current):
            drawn = sensors.battery_current * dt / SECONDS_PER_HOUR * 1000.0
            self.consumed = drawn if isnan(self.consumed) else self.consumed + drawn
        if self.level < CRITICAL and self.present:
            self._watch(CRITICAL, "CRT", dt)
            if self.level < LOW:
                self._watch(LOW, "LOW", dt)

    def _watch(self, level: int, word: str, dt: float) -> None:
        parameters = self.autopilot.parameters
        volts, charge = parameters.value(f"BATT_{word}_VOLT"), parameters.value(f"BATT_{word}_MAH")
        voltage = self.autopilot.sensors.battery_voltage
        self._under[level] = self._under[level] + dt if voltage < volts else 0.0
        if volts > 0.0 and self._under[level] > 0.0 and self._under[level] >= parameters.value("BATT_LOW_TIMER"):
            self.level, self.reason = level, f"{voltage:.2f}V"
        elif charge > 0.0 and self.remaining < charge:
            self.level, self.reason = level, f"{self.remaining:.0f}mAh left"
