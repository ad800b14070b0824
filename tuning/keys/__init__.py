"""The keys of studies, ablations and claims, each declared once, and a reference page for every kind of file."""
