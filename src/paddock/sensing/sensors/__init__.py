"""The shipped sensors: a file here is a sensor under the file's name."""
