"""Ready buildings: the 40-story tower, and the two-story reinforced-concrete moment frame of Malik et al. (2025)."""
