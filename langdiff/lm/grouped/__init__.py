"""Experimental: several networks trained as one program (``compute_surprisals(group=...)``).

Nothing but that switch imports this folder, so that it can be deleted as one.
"""
