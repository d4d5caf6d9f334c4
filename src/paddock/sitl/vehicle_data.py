"""The data that adapters exchange with autopilots, by the names of an adapter's author."""

from paddock.autopilot.vehicle_data import COLUMN as COLUMN
from paddock.autopilot.vehicle_data import ActuatorCommands as ActuatorCommands
from paddock.autopilot.vehicle_data import SensorData as SensorData
from paddock.autopilot.vehicle_data import blank_actuators as blank_actuators
from paddock.autopilot.vehicle_data import blank_sensors as blank_sensors
