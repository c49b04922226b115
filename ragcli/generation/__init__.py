"""What may we answer, and from where?"""
