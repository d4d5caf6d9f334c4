"""The true state: fleets, ids, clock, frames, transforms, snapshots, save and restore."""
