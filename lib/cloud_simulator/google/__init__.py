"""Simulated Google projects on loopback: Compute, Resource Manager and Billing over HTTP, Monitoring over gRPC."""
