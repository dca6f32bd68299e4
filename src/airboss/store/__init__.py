"""Where things are kept: tables, migrations, the database and the data folder."""
