-- Accounts: which kinds there are, how they open, and what each kind may take part in. A `stands_for` account holds the
-- money of one bank, one coup's stakes or one house player's chips.

-- Not a CHECK: none of this can change afterwards, and a CHECK is read anew with every update of a balance.
CREATE OR REPLACE FUNCTION wallet_refuse_account() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'no account opens like this: %', NEW USING ERRCODE = 'check_violation';
END $$;

-- Opens a player's account, or finds it, and returns its id. Of what kind a player's account may be, the trigger says.
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

-- Opens the account that stands for a tenure, a coup or a house player, or finds it, and returns its id.
CREATE OR REPLACE FUNCTION wallet_open_standing(owner bigint, kind text, currency text, mode text, stands_for uuid) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    found_id bigint;
BEGIN
    IF wallet_open_standing.kind NOT IN ('bank', 'stakes', 'seat') THEN
        RAISE EXCEPTION 'a % stands for nothing', kind USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO wallet_account (owner_id, kind, currency, mode, balance, held, version, lock_only, stands_for)
    VALUES (owner, wallet_open_standing.kind, wallet_open_standing.currency, wallet_open_standing.mode, 0, 0, 0, false,
            wallet_open_standing.stands_for)
    ON CONFLICT DO NOTHING;
    SELECT a.id INTO found_id FROM wallet_account AS a
    WHERE a.stands_for = wallet_open_standing.stands_for AND a.kind = wallet_open_standing.kind
      AND a.owner_id IS NOT DISTINCT FROM owner AND a.currency = wallet_open_standing.currency
      AND a.mode = wallet_open_standing.mode;
    IF found_id IS NULL THEN
        RAISE EXCEPTION '% stands for something else', stands_for USING ERRCODE = 'check_violation';
    END IF;
    RETURN found_id;
END $$;
REVOKE ALL ON FUNCTION wallet_open_standing FROM PUBLIC;

-- What lies before the croupier moves for its own tenure or coup alone: whether this journal may have a line there. A bank
-- wins and loses together with the stakes of a coup, and a coup pays its bank, who staked in it, and the house.
CREATE OR REPLACE FUNCTION wallet_stands_so(kind text, stands_for uuid, journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE wallet_stands_so.kind
        WHEN 'bank' THEN j.kind IN ('void_transfer', 'void_shortfall') OR j.kind = 'void' AND was.kind = 'settle'
            OR j.kind IN ('bank', 'bank_back', 'bank_won') AND j.round_id = wallet_stands_so.stands_for
            OR j.kind = 'settle' AND EXISTS (
                SELECT FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
                WHERE e.journal_id = j.id AND a.kind = 'stakes')
        WHEN 'stakes' THEN j.round_id = wallet_stands_so.stands_for
            AND (j.kind = 'stake' OR j.kind = 'void' AND was.kind IN ('stake', 'settle')
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

-- Nobody's money becomes another's, but for what a bank loses to those who staked against it, and gets back where that is
-- annulled. House players, whose money is the house's, are one owner; stakes on the table are nobody's.
CREATE OR REPLACE FUNCTION wallet_keep_apart() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    SELECT j.id, source.id AS gives, target.id AS takes INTO astray
    FROM (SELECT n.journal_id FROM new_lines AS n WHERE n.version IS NOT NULL
          GROUP BY n.journal_id HAVING min(n.amount) < 0 AND max(n.amount) > 0) AS mixed
    JOIN wallet_journal AS j ON j.id = mixed.journal_id LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
    CROSS JOIN LATERAL (
        SELECT a.* FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id
        WHERE n.journal_id = mixed.journal_id AND n.amount < 0 AND a.balance IS NOT NULL AND a.kind <> 'stakes'
    ) AS source
    CROSS JOIN LATERAL (
        SELECT a.* FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id
        WHERE n.journal_id = mixed.journal_id AND n.amount > 0 AND a.balance IS NOT NULL AND a.kind <> 'stakes'
    ) AS target
    WHERE coalesce(source.owner_id, 0) <> coalesce(target.owner_id, 0)
      AND ((was.id IS NULL AND j.kind = 'settle' AND source.kind = 'bank')
           OR (was.kind = 'settle' AND target.kind = 'bank')) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % gives money of account % to account %', astray.id, astray.gives, astray.takes
            USING ERRCODE = 'SB010';
    END IF;
    RETURN NULL;
END $$;
