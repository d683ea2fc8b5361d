"""Tests of the programs in examples/, which run as anybody runs them."""
