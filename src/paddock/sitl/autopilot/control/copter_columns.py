"""The places of values in the arrays that the copter's compiled control reads and writes.

North-east-down and front-right-down, SI units, thrust as a share of what all motors give together.
"""

from __future__ import annotations

from paddock.sitl.autopilot.estimate import PLACE

# what the modes want: the setpoint
SPOOL = 0  # SHUT, IDLE or FLY
HORIZONTAL = 1  # LEAN or ALONG
VERTICAL = 2  # THRUST, CLIMB or HEIGHT
NORTH, EAST, DOWN = 3, 4, 5  # m; it moves on by itself between two updates
VN, VE, VD = 6, 7, 8  # m/s
AN, AE, AD = 9, 10, 11  # m/s2
ROLL, PITCH = 12, 13  # rad, with LEAN
YAW, YAW_RATE = 14, 15  # rad, rad/s
SHARE = 16  # with THRUST
SETPOINT_WIDTH = 17

SHUT, IDLE, FLY = 0.0, 1.0, 2.0
LEAN, ALONG = 0.0, 1.0
THRUST, CLIMB, HEIGHT = 0.0, 1.0, 2.0

# how it behaves: from the parameters
POSITION_P, VELOCITY_P, VELOCITY_I = 0, 1, 2
HEIGHT_P, CLIMB_P, CLIMB_I = 3, 4, 5
ROLL_ANGLE_P, PITCH_ANGLE_P, YAW_ANGLE_P = 6, 7, 8
ROLL_P, ROLL_I, ROLL_D = 9, 10, 11  # shares per rad/s, rad, rad/s2
PITCH_P, PITCH_I, PITCH_D = 12, 13, 14
YAW_P, YAW_I, YAW_D = 15, 16, 17
FILTER_TIME = 18  # s, low-pass of the D terms
LEAN_TIME = 19  # s, low-pass of the pilot's lean
ANGLE_MAX = 20  # rad
TILT_RATE_MAX, YAW_RATE_MAX = 21, 22  # rad/s
SPEED_MAX = 23  # m/s: what a position error may ask for
INTEGRAL_MAX = 24  # share: largest I term of a rate
GAINS_WIDTH = 25

# what it remembers: the memory
PHASE = 0  # GROUND, RISING or AIRBORNE
RAMP = 1  # share, while RISING
HOVER = 2  # share that carries the weight, learnt
LAGGED, SLOW_SHARE, SLOW_FORCE = 3, 4, 5  # share as motors follow it; share and specific force (m/s2), both averaged
RISE = 6  # m/s2 upwards, smoothed
I_NORTH, I_EAST, I_DOWN = 7, 8, 9  # m/s2
I_ROLL, I_PITCH, I_YAW = 10, 11, 12  # shares
SMOOTH_P, SMOOTH_Q, SMOOTH_R = 13, 14, 15  # rad/s
LEAN_ROLL, LEAN_PITCH = 16, 17  # rad, the pilot's lean, smoothed
COLLECTIVE = 18  # share given
SINK = 19  # m/s downwards that is wanted
WANTED_ROLL, WANTED_PITCH = 20, 21  # rad, for display
MEMORY_WIDTH = 22

GROUND, RISING, AIRBORNE = 0.0, 1.0, 2.0

# what is believed: places in a row of Estimate
E_NORTH, E_EAST, E_DOWN = PLACE["north"], PLACE["east"], PLACE["down"]
E_VN, E_VE, E_VD = PLACE["vn"], PLACE["ve"], PLACE["vd"]
E_QW, E_QX, E_QY, E_QZ = PLACE["qw"], PLACE["qx"], PLACE["qy"], PLACE["qz"]
E_YAW = PLACE["yaw"]
E_P, E_Q, E_R = PLACE["p"], PLACE["q"], PLACE["r"]
E_AN, E_AE, E_AD = PLACE["an"], PLACE["ae"], PLACE["ad"]
E_POSITION_OK, E_HEIGHT_OK = PLACE["position_ok"], PLACE["height_ok"]
