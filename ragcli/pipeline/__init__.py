"""What happens to a file and to a question: the only code that knows two rooms."""
