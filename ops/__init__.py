"""What runs the house: servers, launcher, beat, backup, migrations, metrics, health, catalogues, logs."""
