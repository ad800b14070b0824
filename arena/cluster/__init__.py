"""Games on other machines: chunks of them go to the workers of a cluster, or to any executor, and come back played."""
