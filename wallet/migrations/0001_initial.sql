-- The parts of the tables of `wallet` that Django cannot declare.

-- Journals and entries are kept in a table for each month (audit/id_ranges.py): a month is a block of 2^32 journal ids,
-- November 2026 is the first, and everything before it is one table.
ALTER TABLE wallet_journal
    ALTER id SET START WITH 1382979469312 RESTART,
    ALTER at SET DEFAULT clock_timestamp(),
    -- The transaction that wrote a journal; only that transaction may add its entries.
    ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    ADD CONSTRAINT wallet_journal_posting_key FOREIGN KEY (key) REFERENCES wallet_posting_key (key);
CREATE TABLE wallet_journal_before PARTITION OF wallet_journal FOR VALUES FROM (MINVALUE) TO (1382979469312);
CREATE TABLE wallet_entry_before PARTITION OF wallet_entry FOR VALUES FROM (MINVALUE) TO (1382979469312);

-- Each month has this unique index of its own: the whole table can have none without the journal's id.
CREATE UNIQUE INDEX wallet_entry_before_chain ON wallet_entry_before (account_id, version) WHERE version IS NOT NULL;

-- Balances and daily counts are updated in place where their page has room.
ALTER TABLE wallet_account SET (fillfactor = 70);
ALTER TABLE wallet_day SET (fillfactor = 70);

-- The amount in two units: minor units for the house, decimals for payment providers.
ALTER TABLE wallet_payment ADD CONSTRAINT wallet_payment_total CHECK (total * 100 = amount);
