"""Scenario files: what they may say (`schema`), how they are read, and what they become."""
