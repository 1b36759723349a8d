"""The bench on AWS: scratch volumes, and tasks by Run Command."""
