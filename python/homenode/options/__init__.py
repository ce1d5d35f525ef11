"""Options as callers write them, read and checked before an engine sees them."""
