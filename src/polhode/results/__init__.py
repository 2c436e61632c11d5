"""What a run gives: trajectories and ensembles, their columns, what they conserve."""
