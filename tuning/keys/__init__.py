"""The keys of studies, ablations and claims, each declared once, and the reference of every kind of file."""
