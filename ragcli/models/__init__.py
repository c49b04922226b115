"""Which model files are here, and are they whole?"""
