"""The keys of tournaments and players, each declared once; what they mean is in the catalogues beside."""
