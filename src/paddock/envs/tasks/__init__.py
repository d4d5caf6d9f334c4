"""Tasks: one file each; the file's name is the task's name."""
