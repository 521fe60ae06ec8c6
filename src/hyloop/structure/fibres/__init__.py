"""Members that yield: materials, fibre sections, force-based beams and braces, one compiled kernel for each group."""
