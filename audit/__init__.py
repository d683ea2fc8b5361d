"""The ground floor: what happened, written down once and never changed. Anyone may call it; it knows nobody."""
