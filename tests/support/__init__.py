"""What tests are made of: outcomes, traces, mixes and a browser."""
