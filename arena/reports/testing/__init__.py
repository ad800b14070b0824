"""Reports on planned sequential tests and on bisections."""
