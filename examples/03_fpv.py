"""An FPV drone: arm, climb, flip, fly with sticks, then return home automatically; print the battery state."""

import paddock

drone = {"name": "fpv", "model": "quad", "preset": "freestyle", "commands": {"armed": 0}}
sim = paddock.load({"clock": {"rate": 500}, "vehicles": [drone]})


def fly(title: str, seconds: float, **inputs: float | str) -> None:
    """Command the drone, advance the time, and print its state."""
    sim.command("fpv", **inputs)
    sim.step(round(500 * seconds))
    fpv = sim.snapshot()["fpv"]
    qx, qy, _, _ = fpv.orientation
    tilt = 1 - 2 * (qx * qx + qy * qy)  # cosine: 1 upright, 0 on its side, -1 upside down
    x, y, z = fpv.position
    battery = f"{fpv['voltage']:.2f} V, {fpv['charge']:.1%}"
    print(f"{sim.time:5.2f} s  {title:20} {x:5.1f} {y:5.1f} {z:5.1f} m  {fpv.speed:4.1f} m/s  {tilt:+.2f}  {battery}")


fly("disarmed", 1, mode="angle", throttle=0.6)  # disarmed: the motors stay off
fly("velocity: climb", 3, armed=1, mode="velocity", vz=4)
fly("angle: punch out", 0.3, mode="angle", throttle=0.6)
fly("acro: into the flip", 0.25, mode="acro", roll=1, throttle=0)  # stick to the right, throttle down
fly("acro: out of it", 0.2, roll=1)
fly("angle: caught", 0.5, mode="angle", roll=0, throttle=0.15)
fly("angle: nose down", 1.5, pitch=0.4, throttle=0.14)
fly("position: hands off", 3, mode="position", pitch=0, throttle=0.5)  # mid stick holds the height
fly("goto: home", 8, mode="goto", x=0, y=0, z=2, heading=1.57, vz=0)  # inputs stay until changed: vz was still 4
