"""Other processes: elolab's helper processes, and access to foreign programs from compiled code."""
