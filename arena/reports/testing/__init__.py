"""Reports of planned sequential tests and of bisections."""
