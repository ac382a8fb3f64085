"""What tests of the whole simulator share: a bench machine, launches, laws and timelines."""
