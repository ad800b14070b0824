"""Playing games side by side and keeping them."""
