"""Other processes: helpers of ours, and other people's programs from compiled code."""
