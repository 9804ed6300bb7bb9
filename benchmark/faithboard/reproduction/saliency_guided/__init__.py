"""Ismail et al. (2021), "Improving Deep Learning Interpretability by Saliency Guided Training": the language tasks.

results -> arrays (`measured.py`) -> values, differences, models (pure) -> claims -> page and figures
"""
