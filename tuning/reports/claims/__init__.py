"""What is written and printed of claims."""
