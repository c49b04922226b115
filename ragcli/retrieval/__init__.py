"""Which passages bear on this query?"""
