"""The dialogue: what are we talking about."""
