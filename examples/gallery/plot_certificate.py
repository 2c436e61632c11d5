"""
A method under the microscope
=============================

Every method declares its properties: its order in attitude and momentum, whether it is symmetric or
symplectic, what it conserves, how often it evaluates the torque.  A certificate measures them and
reports which of them do not hold.
"""

import polhode
from polhode import plots

certificate = polhode.certify("VLV")
figure = plots.certificate(certificate)

# %%
# The certificate as text; ``polhode certify VLV`` prints it in a terminal.

print(certificate)
