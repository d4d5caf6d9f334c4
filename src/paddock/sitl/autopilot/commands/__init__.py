"""What ground stations may command: one table of MAV_CMDs, and the functions that carry them out."""

from paddock.sitl.autopilot.commands.table import COMMANDS, carry_out

__all__ = ["COMMANDS", "carry_out"]
