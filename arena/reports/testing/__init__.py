"""Reports of planned sequential tests."""
