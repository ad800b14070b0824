"""The common parts of all figures: style, file formats, and marks that prevent misreading."""
