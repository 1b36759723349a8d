"""`plimsoll bill`: what is paid for block storage, by its bill, and what became of each saving."""
