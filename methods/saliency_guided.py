"""Methods on models of saliency-guided training (Ismail et al. 2021), which is to make gradients more faithful."""

from __future__ import annotations

from faithboard import variant

TRAINING = "saliency-guided"

ATTENTION = variant("attention", training=TRAINING)
GRADIENT_L2 = variant("gradient-l2", training=TRAINING)
GRADIENT_X_INPUT = variant("gradient-x-input", training=TRAINING)
GRADIENT_X_INPUT_FIXED_ATTENTION = variant("gradient-x-input-fixed-attention", training=TRAINING)
LEAVE_ONE_OUT = variant("leave-one-out", training=TRAINING)
LEAVE_ONE_OUT_TVD = variant("leave-one-out-tvd", training=TRAINING)
