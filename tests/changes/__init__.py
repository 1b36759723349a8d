"""How often the verdict on a change is wrong: measured on weeks in which nothing was changed, and on harms of known
kinds."""
