"""How good is it? Cases, what counts as right, figures with intervals, comparisons and reports: pure values."""
