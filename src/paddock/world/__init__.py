"""What is true: fleets, ids, clock, frames, transforms, snapshots, save and restore."""
