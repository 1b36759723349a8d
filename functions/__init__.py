"""The functions of the service: one file for each Lambda, which parses, calls the service, and answers."""
