"""Jain & Wallace (2019), "Attention is not Explanation": correlations, permutations and adversarial attention.

results of a suite -> measured -> lines (pure statistics) -> page (pure) and figures
"""
