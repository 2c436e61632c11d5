"""From a call to machine code and back: problem, program, driver, record."""
