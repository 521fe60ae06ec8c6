"""Supplemental damping of the tower by half power."""

SUPPLEMENTAL = ("N-S", "torsion")
