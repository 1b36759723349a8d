"""The steps of an audit, a module each: inventory, prices, metrics plan, batches, decisions."""
