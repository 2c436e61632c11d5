"""The time loops that are compiled around one method and one torque."""
