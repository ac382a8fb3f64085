"""tinygpu: a cycle-level simulator of a small GPU that a person can read, drive and believe."""
