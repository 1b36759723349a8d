"""A simulated organization on loopback: accounts, volumes and their metrics, answered to any AWS client over HTTP."""
