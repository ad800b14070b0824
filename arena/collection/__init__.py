"""The runs below a folder: listing, comparing and removing them."""
