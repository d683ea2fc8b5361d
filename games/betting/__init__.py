"""Stakes: the bet slip, its limits and eligibility to bet."""
