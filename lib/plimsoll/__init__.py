"""Plimsoll right-sizes cloud block storage on what its workload really asks for."""
