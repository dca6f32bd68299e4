"""Several machines on one database: who lives, who is lost, and what ends with a worker."""
