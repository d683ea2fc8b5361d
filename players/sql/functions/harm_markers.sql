-- Markers of harm: contacts with players, and the erasure of what staff wrote.

-- Return whether the account of a case's player was erased. Only then may staff texts about the
-- player be emptied.
-- `case`: id of the case.
CREATE OR REPLACE FUNCTION players_case_is_erased("case" bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_case AS f JOIN players_closure AS c ON c.player_id = f.player_id AND c.state = 'erased'
        WHERE f.id = "case")
$$;

-- Allow one change of a contact: its text is emptied after the account was erased. Trigger
-- function, BEFORE UPDATE on players_contact.
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION players_keep_contact() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.said = '' AND players_case_is_erased(OLD.case_id) AND to_jsonb(NEW) - 'said' = to_jsonb(OLD) - 'said' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of players_contact are never changed before the account is erased' USING ERRCODE = 'restrict_violation';
END $$;

-- Empty the staff texts of a player's cases about markers of harm and duplicates, and of the contacts. Those of other cases stay, as
-- anti-money-laundering law demands.
-- Raises restrict_violation (23001), from the triggers on both tables, unless the account was
-- erased.
CREATE OR REPLACE FUNCTION players_forget_markers(player bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE players_contact AS c SET said = '' FROM players_case AS f
    WHERE f.id = c.case_id AND f.player_id = player AND c.said <> '';
    UPDATE players_case_entry AS e SET text = '' FROM players_case AS f
    WHERE f.id = e.case_id AND f.player_id = player AND f.kind IN ('marker', 'duplicate') AND e.text <> '';
END $$;
REVOKE ALL ON FUNCTION players_forget_markers FROM PUBLIC;
