"""The rigid body: inertia and mass, shapes, meshes, robot descriptions."""
