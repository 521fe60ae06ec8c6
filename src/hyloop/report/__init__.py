"""What a person reads: pages, figures and tables."""

from hyloop.report.catalogue_page import write_catalogue
from hyloop.report.comparison_page import write_comparison
from hyloop.report.figures import save_figures
from hyloop.report.run_page import write_report

__all__ = ["save_figures", "write_catalogue", "write_comparison", "write_report"]
