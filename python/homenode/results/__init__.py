"""Results of the engines: rows, and plots of them."""
