"""What the engines give back: rows, and plots of them."""
