"""Model updating: blocks that keep the parameters of a device model true to a measured device."""

from hyloop.updating.unscented import covariance, unscented

__all__ = ["covariance", "unscented"]
