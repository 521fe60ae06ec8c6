"""Integration methods, each a map from (M, C, K, Δt) to the operators of one recurrence."""

from hyloop.integrators.explicit import central_difference, newmark_explicit, stabilized_central_difference
from hyloop.integrators.implicit import generalized_alpha, newmark
from hyloop.integrators.model_based import cr, kr_alpha, mkr_alpha
from hyloop.integrators.operators import Method, Operators

__all__ = [
    "Method",
    "Operators",
    "central_difference",
    "cr",
    "generalized_alpha",
    "kr_alpha",
    "mkr_alpha",
    "newmark",
    "newmark_explicit",
    "stabilized_central_difference",
]
