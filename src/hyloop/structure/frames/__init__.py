"""Frames as engineers describe them: nodes, members, constraints and dead loads, in two or three dimensions."""
