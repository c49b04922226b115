"""What vector stands for this text?"""
