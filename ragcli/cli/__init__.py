"""What did the person type, and what do they see?"""
