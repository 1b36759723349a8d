"""The nouns and the decisions: pure, standard library and numpy alone.

Here stand the nouns that all others use, and `decide`, the decision on one volume. `metrics` is what came of a cloud,
`demand` what the workload asked for, `memory` what it did before. `offers` are made and one is chosen, on `evidence`
and at a `risk`. `groups` change together. `refine` reads on until nothing unread matters, and `reasons` say why.
"""
