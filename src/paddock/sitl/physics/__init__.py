"""What stands behind the adapters: the motion and the measurements that they pass on."""
