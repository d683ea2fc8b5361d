-- Letters of before were written to everybody in one transaction: none of them has a part left.

INSERT INTO games_letterend (letter_id, at) SELECT id, at FROM games_incidentletter;
