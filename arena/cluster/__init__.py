"""Playing games on other machines: the workers of a cluster, or any executor, play them in chunks."""
