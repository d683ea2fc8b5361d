-- Accounts: which kinds exist, how an account is opened, and which journals may have a line on it.
-- An account with `subject_id` belongs to one tenure of a banker, one coup or one house player at a
-- Chemin de Fer table.

-- Refuse a new account. Trigger function, BEFORE INSERT on wallet_account.
-- Raises check_violation (23514), always. The rules are in the WHEN condition of
-- wallet_account_opens.
-- A CHECK constraint would be evaluated again at each change of a balance, although these columns
-- never change.
CREATE OR REPLACE FUNCTION wallet_refuse_account() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'no account opens like this: %', NEW USING ERRCODE = 'check_violation';
END $$;

-- Return the id of a player's account, and open the account with balance 0 if it does not exist.
-- `kind`: cash, purse, pending or refund. `mode`: R (real) or F (free). `owner`: id of the player.
-- Raises check_violation (23514) for a combination that wallet_account_opens does not allow, and
-- foreign_key_violation (23503) for an unknown player.
CREATE OR REPLACE FUNCTION wallet_open_account(owner bigint, currency text, mode text, kind text DEFAULT 'cash') RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    found_id bigint;
BEGIN
    INSERT INTO wallet_account (owner_id, kind, currency, mode, balance, held, version, lock_only)
    VALUES (owner, wallet_open_account.kind, wallet_open_account.currency, wallet_open_account.mode, 0, 0, 0, false)
    ON CONFLICT DO NOTHING;
    SELECT a.id INTO found_id FROM wallet_account AS a
    WHERE a.owner_id = owner AND a.kind = wallet_open_account.kind AND a.currency = wallet_open_account.currency
      AND a.mode = wallet_open_account.mode;
    RETURN found_id;
END $$;
REVOKE ALL ON FUNCTION wallet_open_account FROM PUBLIC;

-- Return the id of the bank of a tenure, the stakes of a coup or the seat of a house player, and
-- open the account with balance 0 if it does not exist.
-- `kind`: bank, stakes or seat. `owner`: the banker, NULL for stakes, seats and a house player's
-- bank. `subject_id`: id of the tenure, the coup or the house player.
-- Raises check_violation (23514) for another kind, and if `subject_id` already has an account of
-- another kind, owner, currency or mode.
CREATE OR REPLACE FUNCTION wallet_open_table_account(owner bigint, kind text, currency text, mode text, subject_id uuid) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    found_id bigint;
BEGIN
    IF wallet_open_table_account.kind NOT IN ('bank', 'stakes', 'seat') THEN
        RAISE EXCEPTION 'no account of kind % belongs to a table', kind USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO wallet_account (owner_id, kind, currency, mode, balance, held, version, lock_only, subject_id)
    VALUES (owner, wallet_open_table_account.kind, wallet_open_table_account.currency, wallet_open_table_account.mode, 0, 0, 0, false,
            wallet_open_table_account.subject_id)
    ON CONFLICT DO NOTHING;
    SELECT a.id INTO found_id FROM wallet_account AS a
    WHERE a.subject_id = wallet_open_table_account.subject_id AND a.kind = wallet_open_table_account.kind
      AND a.owner_id IS NOT DISTINCT FROM owner AND a.currency = wallet_open_table_account.currency
      AND a.mode = wallet_open_table_account.mode;
    IF found_id IS NULL THEN
        RAISE EXCEPTION '% belongs to another account', subject_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN found_id;
END $$;
REVOKE ALL ON FUNCTION wallet_open_table_account FROM PUBLIC;

-- Return whether a journal may have a line on an account with `subject_id`.
-- `kind` and `subject_id` are those of the account. `journal`: id of the journal, with its lines
-- already written.
-- Returns NULL if the journal does not exist.
--
-- An account of kind bank accepts the bank, bank_back and bank_won journals of its tenure, of which
-- nothing returns to the banker while stakes of the coup at its table wait for it; settle journals that also have
-- a line on a stakes account, voids of settle journals, void_transfer and void_shortfall. An account
-- of kind stakes accepts journals of its coup only: stake, which returns to no account more than it
-- has staked, the void of a stake or settle journal, and a settle journal that moves no other
-- accounts than banks, stakes, the house and accounts that staked in this coup. An account of kind
-- seat accepts the kinds listed at the end.
CREATE OR REPLACE FUNCTION wallet_table_account_allows(kind text, subject_id uuid, journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE wallet_table_account_allows.kind
        WHEN 'bank' THEN j.kind IN ('void_transfer', 'void_shortfall') OR j.kind = 'void' AND was.kind = 'settle'
            OR j.kind IN ('bank', 'bank_back', 'bank_won') AND j.round_id = wallet_table_account_allows.subject_id
               AND (j.kind = 'bank' OR NOT EXISTS (
                   SELECT FROM games_chemintenure AS t JOIN games_livetable AS l ON l.id = t.live_table_id
                   JOIN wallet_account AS pool ON pool.subject_id = l.round_id AND pool.kind = 'stakes' AND pool.balance > 0
                   WHERE t.id = j.round_id))
            OR j.kind = 'settle' AND EXISTS (
                SELECT FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
                WHERE e.journal_id = j.id AND a.kind = 'stakes')
        WHEN 'stakes' THEN j.round_id = wallet_table_account_allows.subject_id
            AND (j.kind = 'stake' AND NOT EXISTS (
                     SELECT FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id AND a.kind <> 'stakes'
                     JOIN wallet_journal AS s ON s.round_id = j.round_id AND s.kind = 'stake'
                     JOIN wallet_entry AS staked ON staked.journal_id = s.id AND staked.account_id = e.account_id
                     WHERE e.journal_id = j.id AND e.amount > 0 GROUP BY e.account_id HAVING sum(staked.amount) > 0)
                 OR j.kind = 'void' AND was.kind IN ('stake', 'settle')
                 OR j.kind = 'settle' AND NOT EXISTS (
                     SELECT FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
                     WHERE e.journal_id = j.id AND a.kind NOT IN ('bank', 'stakes', 'house') AND NOT EXISTS (
                         SELECT FROM wallet_journal AS s JOIN wallet_entry AS staked ON staked.journal_id = s.id
                         WHERE s.round_id = j.round_id AND s.kind = 'stake' AND staked.account_id = e.account_id)))
        ELSE j.kind IN ('seat_funded', 'stake', 'settle', 'bank', 'bank_back', 'bank_won', 'void', 'void_transfer',
                        'void_shortfall')
        END
    FROM wallet_journal AS j LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id WHERE j.id = journal
$$;

-- Refuse journals that move an account which accepts only certain journals: an account with
-- `subject_id`, or the house's account for adjustments, studios or operators.
-- `journals`: ids, with their entries; NULL elements are ignored.
-- Raises SB009.
CREATE OR REPLACE FUNCTION wallet_refuse_bound(journals bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray wallet_entry;
BEGIN
    SELECT e.* INTO astray FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
    WHERE e.journal_id = ANY (journals) AND CASE
        WHEN a.kind = 'adjusted' THEN wallet_adjusts_so(e.journal_id)
        WHEN a.kind = 'studio' THEN wallet_studio_moves_so(e.journal_id)
        WHEN a.kind = 'operator' THEN wallet_operator_journal_matches(e.journal_id)
        ELSE a.subject_id IS NULL OR wallet_table_account_allows(a.kind, a.subject_id, e.journal_id)
    END IS NOT TRUE LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % line %: account % does not move like this',
            astray.journal_id, astray.line, astray.account_id USING ERRCODE = 'SB009';
    END IF;
END $$;

-- Refuse journals that move money from one owner to another.
-- `journals`: ids, with their entries.
-- Raises SB010.
--
-- Two cases are allowed: a settle journal pays players from a bank, and the void of a settle
-- journal returns that money to the bank. House accounts (without a balance) and stakes accounts do
-- not count. House players have no owner and count as one owner, because their money belongs to the
-- house.
CREATE OR REPLACE FUNCTION wallet_refuse_gifts(journals bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    WITH line AS MATERIALIZED (
        SELECT e.journal_id, e.amount, a.id, a.kind, coalesce(a.owner_id, 0) AS owner_id
        FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
        WHERE e.journal_id = ANY (journals) AND a.balance IS NOT NULL AND a.kind <> 'stakes'
    )
    SELECT j.id, source.id AS gives, target.id AS takes INTO astray
    FROM line AS source JOIN line AS target ON target.journal_id = source.journal_id AND target.owner_id <> source.owner_id
    JOIN wallet_journal AS j ON j.id = source.journal_id LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
    WHERE source.amount < 0 AND target.amount > 0
      AND ((was.id IS NULL AND j.kind = 'settle' AND source.kind = 'bank')
           OR (was.kind = 'settle' AND target.kind = 'bank')) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % gives money of account % to account %', astray.id, astray.gives, astray.takes
            USING ERRCODE = 'SB010';
    END IF;
END $$;
