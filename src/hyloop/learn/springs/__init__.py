"""Springs unknown to begin with, learned from the response of the structure they stand in."""
