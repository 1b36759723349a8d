"""The risk that demand outgrows an offer: learned from what followed past cuts, without a model of the workload.

Split conformal prediction (Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005; Lei and others,
Distribution-Free Predictive Inference for Regression, 2018): `scores` of past cuts, their `calibration` to a promised
risk, and the learned `table` that is kept from run to run.
"""
