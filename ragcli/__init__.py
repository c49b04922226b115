"""Ask a folder of plain-text files, offline: chapters in, dialogue understood, cited answers out."""

__version__ = "0.1.0"
