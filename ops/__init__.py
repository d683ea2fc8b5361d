"""Operations: launcher, servers, beat, backup, migrations, metrics, health, message catalogues, logs."""
