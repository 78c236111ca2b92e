"""What runs say: figures, tables, one page."""
