"""How the deployed audit grows with an organization: its real state machine over its real functions, up to 17,000
targets and a million volumes, each function within its own memory, disk, processors and time. `make scale`."""
