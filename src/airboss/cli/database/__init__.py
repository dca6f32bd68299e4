"""Commands about the database that several machines share."""
