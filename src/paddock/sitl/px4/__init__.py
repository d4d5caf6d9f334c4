"""PX4 in the loop: Paddock is the simulator of unmodified PX4 SITL binaries (HIL messages over TCP 4560 + instance)."""

SIMULATOR_PORT = 4560  # TCP port at which PX4 instance 0 expects its simulator
