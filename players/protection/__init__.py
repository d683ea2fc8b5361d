"""Player protection: limits, exclusions, registers, reality checks, eligibility."""
