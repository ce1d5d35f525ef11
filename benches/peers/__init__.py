"""Parts of `side_by_side.py`: the traces, and the programs that simulate them."""
