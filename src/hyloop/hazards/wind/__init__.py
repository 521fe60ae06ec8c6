"""Wind: floor loads from spectra, and from pressures measured in a wind tunnel."""

from hyloop.hazards.wind.building import WindBuilding
from hyloop.hazards.wind.coefficients import WindCoefficients
from hyloop.hazards.wind.floor_loads import FloorWind
from hyloop.hazards.wind.pressures import PressureTaps, full_scale_step, pressure_loads
from hyloop.hazards.wind.terrain import EXPOSURES, Exposure, WindSite

__all__ = [
    "EXPOSURES",
    "Exposure",
    "FloorWind",
    "PressureTaps",
    "WindBuilding",
    "WindCoefficients",
    "WindSite",
    "full_scale_step",
    "pressure_loads",
]
