"""What a person reads: pages, figures and tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyloop.report.catalogue_page import write_catalogue
    from hyloop.report.comparison_page import write_comparison
    from hyloop.report.figures import save_figures
    from hyloop.report.run_page import write_report

__all__ = ["save_figures", "write_catalogue", "write_comparison", "write_report"]

# where each lives; imported when it is first asked for, so that a worker need not wait for what draws
_HOMES = {
    "save_figures": "figures",
    "write_catalogue": "catalogue_page",
    "write_comparison": "comparison_page",
    "write_report": "run_page",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'hyloop.report' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"hyloop.report.{_HOMES[name]}"), name)
    return value
