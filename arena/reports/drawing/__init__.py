"""The common parts of all plots: style, file formats, and marks that prevent misreading."""
