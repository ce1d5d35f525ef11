"""The report: one HTML file that explains traces and policies."""
