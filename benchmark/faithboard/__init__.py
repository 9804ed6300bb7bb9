"""faithboard: which explanation methods tell the truth about a text classifier?"""
