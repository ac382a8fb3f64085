"""The commands of `tinygpu`, one file each; each module has a click `command`."""
