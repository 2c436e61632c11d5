"""
A method under the microscope
=============================

Every method of the library declares what it is: its order in attitude and momentum, whether it is
symmetric or symplectic, what it conserves, how often it evaluates the torque.  A certificate
measures all of it from outside, and says where a claim fails.
"""

import polhode
from polhode import plots

certificate = polhode.certify("VLV")
figure = plots.certificate(certificate)

# %%
# The same as text; ``polhode certify VLV`` prints it in a terminal.

print(certificate)
