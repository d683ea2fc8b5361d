"""Recall: any round of any game, dealt again from its seed the moment somebody looks, everything kept beside it."""
