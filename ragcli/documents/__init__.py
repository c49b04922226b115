"""What does this file say, and under which chapter?"""
