"""What are we talking about?"""
