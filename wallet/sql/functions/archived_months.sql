-- Archived months: before the journals of a month move to an archive, the database keeps sums per
-- account, totals per player and day, and the journals that later checks still need.

-- Return what journals add to the daily totals of players, computed from the ledger.
-- The journals are those with `first` <= id < `beyond`. The result is the same as what
-- wallet_count_days stores.
-- Returns one row per player and day; amounts in minor units. The day is in the time zone of the
-- player's jurisdiction. A reversal counts on the day of the journal that it reverses, with the
-- opposite sign.
CREATE OR REPLACE FUNCTION wallet_days_of(first bigint, beyond bigint)
RETURNS TABLE (player_id bigint, day date, deposited bigint, withdrawn bigint, staked bigint, paid bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH line AS (
        SELECT a.owner_id AS player_id, e.amount, counted.kind, (
                   wallet_counts_at(counted.id, counted.kind, counted.round_id, counted.at, a.id,
                                    CASE WHEN was.id IS NULL THEN e.amount ELSE -e.amount END)
                   AT TIME ZONE z.time_zone)::date AS day
        FROM wallet_entry AS e
        JOIN wallet_account AS a ON a.id = e.account_id AND a.stands_for IS NULL
        JOIN wallet_journal AS j ON j.id = e.journal_id
        LEFT JOIN wallet_known_journals() AS was ON was.id = j.reverses_id
        CROSS JOIN LATERAL (
            SELECT coalesce(was.id, j.id), CASE WHEN was.id IS NULL THEN j.kind ELSE was.kind END,
                   CASE WHEN was.id IS NULL THEN j.round_id ELSE was.round_id END, coalesce(was.at, j.at)
        ) AS counted (id, kind, round_id, at)
        JOIN players_player AS p ON p.id = a.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
        WHERE e.journal_id >= first AND e.journal_id < beyond AND e.mode = 'R' AND (counted.kind <> 'void_transfer' OR EXISTS (
            SELECT FROM wallet_entry AS o JOIN wallet_account AS b ON b.id = o.account_id
            WHERE o.journal_id = j.id AND b.kind = 'bank'))
    )
    SELECT player_id, day, coalesce(sum(amount) FILTER (WHERE kind = 'deposit'), 0)::bigint,
           coalesce(-sum(amount) FILTER (WHERE kind = 'withdraw_paid'), 0)::bigint,
           coalesce(-sum(amount) FILTER (WHERE kind IN ('stake', 'held_stake', 'bank', 'bank_back', 'studio_stake')), 0)::bigint,
           coalesce(sum(amount) FILTER (WHERE kind IN ('settle', 'bank_won', 'void_transfer', 'studio_win')), 0)::bigint
    FROM line
    WHERE kind IN ('deposit', 'withdraw_paid', 'stake', 'held_stake', 'settle', 'bank', 'bank_back', 'bank_won', 'void_transfer', 'studio_stake',
                   'studio_win')
    GROUP BY player_id, day
$$;

-- Store what the ledger needs from a month before its journals move to an archive.
-- `month`: name of the month. The journals are those with `first` <= id < `beyond`. The caller is
-- the owner of the tables and detaches the journals in the same transaction.
-- Raises restrict_violation (23001) if a round of the month still has money: that money could not
-- be paid later.
--
-- It stores the sum and number of entries per account, the totals per player and day, and complete
-- journals with their entries where later checks need them: rounds with journals in another month,
-- coups and tenures whose account moved after the month, journals reversed in another month, and
-- withdrawals that are open or have steps in another month.
CREATE OR REPLACE FUNCTION wallet_carry(month text, first bigint, beyond bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    unpaid uuid;
BEGIN
    SELECT j.round_id INTO unpaid
    FROM wallet_journal AS j JOIN wallet_account AS a ON a.stands_for = j.round_id
    WHERE j.id >= first AND j.id < beyond AND a.balance <> 0 LIMIT 1;
    IF unpaid IS NULL THEN
        SELECT touched.round_id INTO unpaid
        FROM (
            SELECT j.round_id, e.account_id, sum(e.amount) AS amount
            FROM wallet_entry AS e JOIN wallet_journal AS j ON j.id = e.journal_id
            JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'escrow'
            WHERE e.journal_id >= first AND e.journal_id < beyond AND j.id >= first AND j.id < beyond AND j.round_id IS NOT NULL
            GROUP BY j.round_id, e.account_id HAVING sum(e.amount) <> 0
        ) AS touched
        WHERE (SELECT sum(e.amount) FROM wallet_known_journals() AS j JOIN wallet_known_entries() AS e ON e.journal_id = j.id
               WHERE j.round_id = touched.round_id AND e.account_id = touched.account_id) <> 0
        LIMIT 1;
    END IF;
    IF unpaid IS NOT NULL THEN
        RAISE EXCEPTION 'round % is not over: it still has money', unpaid USING ERRCODE = 'restrict_violation';
    END IF;

    INSERT INTO wallet_archived_account (month, account_id, amount, entries)
    SELECT wallet_carry.month, e.account_id, sum(e.amount), count(*)
    FROM wallet_entry AS e WHERE e.journal_id >= first AND e.journal_id < beyond GROUP BY e.account_id;

    INSERT INTO wallet_archived_day (month, player_id, day, deposited, withdrawn, staked, paid)
    SELECT wallet_carry.month, due.* FROM wallet_days_of(first, beyond) AS due;

    WITH open_round AS (
        SELECT j.round_id FROM wallet_journal AS j
        WHERE j.id >= first AND j.id < beyond AND (
            EXISTS (SELECT FROM wallet_journal AS later WHERE later.round_id = j.round_id AND later.id >= beyond)
            OR EXISTS (SELECT FROM wallet_archived_journal AS earlier WHERE earlier.round_id = j.round_id)
            OR EXISTS (SELECT FROM wallet_account AS a JOIN wallet_entry AS e ON e.account_id = a.id
                       WHERE a.stands_for = j.round_id AND e.journal_id >= beyond))
    ), reversed AS (
        SELECT r.journal_id AS id FROM wallet_reversal AS r
        WHERE r.journal_id >= first AND r.journal_id < beyond AND r.by_id >= beyond
        UNION ALL
        SELECT r.by_id FROM wallet_reversal AS r
        WHERE r.by_id >= first AND r.by_id < beyond AND r.journal_id < first
    ), withdrawn AS (
        SELECT s.journal_id AS id FROM wallet_withdrawal_step AS s JOIN wallet_withdrawal AS w ON w.id = s.withdrawal_id
        WHERE s.journal_id >= first AND s.journal_id < beyond
          AND (w.status IN ('requested', 'seconding', 'approved', 'sending')
               OR EXISTS (SELECT FROM wallet_withdrawal_step AS other
                          WHERE other.withdrawal_id = w.id AND (other.journal_id < first OR other.journal_id >= beyond)))
    )
    INSERT INTO wallet_archived_journal (month, id, key, request_hash, kind, round_id, reverses_id, at)
    SELECT wallet_carry.month, j.id, j.key, j.request_hash, j.kind, j.round_id, j.reverses_id, j.at
    FROM wallet_journal AS j
    WHERE j.id >= first AND j.id < beyond
      AND (j.round_id IN (SELECT o.round_id FROM open_round AS o) OR j.id IN (SELECT r.id FROM reversed AS r)
           OR j.id IN (SELECT w.id FROM withdrawn AS w));

    INSERT INTO wallet_archived_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
    SELECT e.journal_id, e.line, e.account_id, e.currency, e.mode, e.amount, e.balance_after, e.version
    FROM wallet_archived_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id WHERE j.month = wallet_carry.month;
END $$;
REVOKE ALL ON FUNCTION wallet_carry FROM PUBLIC;

-- Return what wallet_carry stored for a month, as lines of text in a fixed order.
-- Returns one row per line: "account ...", "journal ...", "entry ...", then "day ...". The fields
-- are listed in wallet/carried.py.
CREATE OR REPLACE FUNCTION wallet_carried_lines(month text) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT line FROM (
        SELECT 1 AS part, account_id AS first, 0 AS second, NULL::date AS day, concat_ws(' ', 'account', account_id, amount, entries) AS line
        FROM wallet_archived_account AS a WHERE a.month = wallet_carried_lines.month
        UNION ALL
        SELECT 2, id, 0, NULL, concat_ws(' ', 'journal', id, key, encode(request_hash, 'hex'), kind, coalesce(round_id::text, '-'),
                                         coalesce(reverses_id::text, '-'), to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
        FROM wallet_archived_journal AS j WHERE j.month = wallet_carried_lines.month
        UNION ALL
        SELECT 3, journal_id, e.line, NULL, concat_ws(' ', 'entry', journal_id, e.line, account_id, currency, mode, amount,
                                                      coalesce(balance_after::text, '-'), coalesce(version::text, '-'))
        FROM wallet_archived_entry AS e JOIN wallet_archived_journal AS j ON j.id = e.journal_id WHERE j.month = wallet_carried_lines.month
        UNION ALL
        SELECT 4, player_id, 0, day, concat_ws(' ', 'day', player_id, to_char(day, 'YYYY-MM-DD'), deposited, withdrawn, staked, paid)
        FROM wallet_archived_day AS d WHERE d.month = wallet_carried_lines.month
    ) AS carried (part, first, second, day, line)
    ORDER BY part, first, second, day
$$;

-- Return the SHA-256, in hexadecimal, of the lines of wallet_carried_lines, each followed by a
-- newline.
CREATE OR REPLACE FUNCTION wallet_carried_digest(month text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(coalesce(string_agg(line || E'\n', '' ORDER BY place), ''), 'UTF8')), 'hex')
    FROM wallet_carried_lines(wallet_carried_digest.month) WITH ORDINALITY AS carried (line, place)
$$;

-- Raise SB060 if a journal is in an archive; the detail is the name of its month.
CREATE OR REPLACE FUNCTION wallet_refuse_archived(journal bigint) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    gone text;
BEGIN
    SELECT month INTO gone FROM audit_archived WHERE first <= journal AND beyond > journal;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % has gone to the archive of %', journal, gone USING ERRCODE = 'SB060', DETAIL = gone;
    END IF;
END $$;
