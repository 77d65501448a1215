"""Version 3: the cluster's resources, and a stream of records."""
