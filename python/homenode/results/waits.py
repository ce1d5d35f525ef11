"""Why processors wait for memory."""

CAUSES = ("false_sharing", "true_sharing", "replacement", "cold")
"""The causes that results tell apart, those that a layout may remove first."""
