"""What is written about studies, ablations and claims."""
