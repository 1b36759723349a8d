"""A simulated organisation on loopback: accounts, volumes and their metrics, answered to any AWS client over HTTP."""
