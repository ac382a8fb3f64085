"""One file a unit of the machine: functions over the specification and the state."""
