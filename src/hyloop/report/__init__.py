"""What a person reads: pages, figures and tables."""

from hyloop.report.figures import save_figures
from hyloop.report.run_page import write_report

__all__ = ["save_figures", "write_report"]
