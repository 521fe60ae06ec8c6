"""Trust: a monitor beside a learned or updated device, its band of error, and the fallback that takes over."""

from hyloop.trust.settings import Band, Watch
from hyloop.trust.trusted import Beside, Trusted, trusted

__all__ = ["Band", "Beside", "Trusted", "Watch", "trusted"]
