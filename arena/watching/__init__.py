"""Read-only view of a run in progress, in the browser and in a terminal."""
