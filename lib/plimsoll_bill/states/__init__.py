"""States: what is paid for and not used, with its evidence, its action, its way back and what is missing for it."""
