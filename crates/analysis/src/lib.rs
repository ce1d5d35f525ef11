//! What the counts mean for a program: the worst blocks, their objects and source lines.
