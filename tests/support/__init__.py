"""What tests share: outcomes, traces, mixes and a browser."""
