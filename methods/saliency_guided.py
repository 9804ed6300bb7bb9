"""Methods on models of saliency-guided training (Ismail et al. 2021), which is to make gradients more faithful."""

from __future__ import annotations

from faithboard import variant

TRAINING = "saliency-guided"

ATTENTION = variant("attention", training=TRAINING)
ATTENTION_GRADIENT = variant("attention-gradient", training=TRAINING)
ATTENTION_NORM = variant("attention-norm", training=TRAINING)
GRADIENT_L1 = variant("gradient-l1", training=TRAINING)
GRADIENT_L1_LOGIT = variant("gradient-l1-logit", training=TRAINING)
GRADIENT_L2 = variant("gradient-l2", training=TRAINING)
GRADIENT_L2_LOGIT = variant("gradient-l2-logit", training=TRAINING)
GRADIENT_SHAP = variant("gradient-shap", training=TRAINING)
GRADIENT_X_INPUT = variant("gradient-x-input", training=TRAINING)
GRADIENT_X_INPUT_FIXED_ATTENTION = variant("gradient-x-input-fixed-attention", training=TRAINING)
GRADIENT_X_INPUT_LOGIT = variant("gradient-x-input-logit", training=TRAINING)
INTEGRATED_GRADIENTS = variant("integrated-gradients", training=TRAINING)
INTEGRATED_GRADIENTS_PAD = variant("integrated-gradients-pad", training=TRAINING)
INTEGRATED_GRADIENTS_UNK = variant("integrated-gradients-unk", training=TRAINING)
LEAVE_ONE_OUT = variant("leave-one-out", training=TRAINING)
LEAVE_ONE_OUT_TVD = variant("leave-one-out-tvd", training=TRAINING)
LRP_EPSILON = variant("lrp-epsilon", training=TRAINING)
SMOOTHGRAD = variant("smoothgrad", training=TRAINING)
SMOOTHGRAD_SQUARED = variant("smoothgrad-squared", training=TRAINING)
VARGRAD = variant("vargrad", training=TRAINING)
