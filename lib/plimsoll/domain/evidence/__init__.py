"""What was measured with fio: campaigns and their envelopes, what they prove of an offer, and what they refute."""
