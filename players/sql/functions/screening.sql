-- Screening of players against lists of sanctioned people and of politically exposed people. A version of an entry is a
-- row that never changes; a case of kind screening names it, and is the memory of what staff decided about it.
--
--   SB154 a list that cannot be right
--   SB158 a reading, or a list that could not be read, without a proof

-- Store one reading of a list: entries that are new or have changed, and when the others left it. Returns the number of
-- new rows.
-- `said`: the entries, each with key, topic, name, names (lists of normalised words) and born ("", "1960" or
-- "1960-01-31"). `proof`: that of players_is_proven_here for "screening read", and source, date and `said` separated by
-- colons. The database cannot read the list itself, and a false one would silence every match.
-- Raises SB158 for a wrong proof, SB154 for an empty list, one that lost more than half of its entries, one older than the
-- last, or one of a day that has begun nowhere: no later list could follow it. Raises unique_violation (23505) for two
-- entries with one key.
CREATE OR REPLACE FUNCTION players_read_screening_list(source text, published date, said text, proof bytea) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    people jsonb;
    held bigint;
    made integer;
    reading bigint;
BEGIN
    IF players_is_proven_here('screening read', concat_ws(':', source, to_char(published, 'YYYY-MM-DD'), said), proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'the proof of this reading of list % is wrong', source USING ERRCODE = 'SB158';
    END IF;
    people := said::jsonb;
    PERFORM pg_advisory_xact_lock(hashtextextended('players_screening', hashtext(source)));
    SELECT count(*) INTO held FROM players_screening_entry AS e WHERE e.list = source AND e.removed_at IS NULL;
    IF published IS NULL OR published > (clock_timestamp() AT TIME ZONE 'UTC' + interval '14 hours')::date
        OR jsonb_array_length(people) = 0 OR jsonb_array_length(people) * 2 < held OR EXISTS (
        SELECT FROM players_screening_reading AS r WHERE r.list = source AND r.published > players_read_screening_list.published)
    THEN
        RAISE EXCEPTION 'list % of % with % entries after % cannot be right', source, published, jsonb_array_length(people), held
            USING ERRCODE = 'SB154';
    END IF;
    UPDATE players_screening_entry AS e SET removed_at = clock_timestamp()
    WHERE e.list = source AND e.removed_at IS NULL AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(people) AS s WHERE s = jsonb_build_object(
            'key', e.key, 'topic', e.topic, 'name', e.name, 'names', e.names, 'born', e.born));
    INSERT INTO players_screening_entry (list, key, topic, name, names, born, published)
    SELECT source, s ->> 'key', s ->> 'topic', s ->> 'name', s -> 'names', s ->> 'born', players_read_screening_list.published
    FROM jsonb_array_elements(people) AS s
    WHERE NOT EXISTS (SELECT FROM players_screening_entry AS e WHERE e.list = source AND e.key = s ->> 'key' AND e.removed_at IS NULL);
    GET DIAGNOSTICS made = ROW_COUNT;
    INSERT INTO players_screening_reading (list, published, entries, reason)
    VALUES (source, published, jsonb_array_length(people), '') RETURNING id INTO reading;
    PERFORM audit_write('screening.read', 'system', 'screening:' || source, format(
        '{"by":"system","data":{"entries":%s,"new":%s,"published":%s,"reading":%s},"kind":"screening.read","on":%s}',
        jsonb_array_length(people), made, to_json(published::text), reading, to_json('screening:' || source)), NULL);
    RETURN made;
END $$;
REVOKE ALL ON FUNCTION players_read_screening_list FROM PUBLIC;

-- Record that a list could not be read, as a significant event. `why`: a sentence. `proof`: that of
-- players_is_proven_here for "screening missed", and source and `why` separated by a colon; without it, anybody could put
-- the next reading off for ever.
-- Raises SB158 for a wrong proof.
CREATE OR REPLACE FUNCTION players_miss_screening_list(source text, why text, proof bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    reading bigint;
BEGIN
    IF players_is_proven_here('screening missed', concat_ws(':', source, why), proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'the proof that list % could not be read is wrong', source USING ERRCODE = 'SB158';
    END IF;
    INSERT INTO players_screening_reading (list, published, entries, reason) VALUES (source, NULL, 0, why) RETURNING id INTO reading;
    PERFORM audit_write('screening.failed', 'system', 'screening:' || source, format(
        '{"by":"system","data":{"reading":%s,"why":%s},"kind":"screening.failed","on":%s}',
        reading, to_json(why), to_json('screening:' || source)), NULL);
END $$;
REVOKE ALL ON FUNCTION players_miss_screening_list FROM PUBLIC;

-- Compare one player, or with NULL all whose accounts are not closed, with the entries of all lists, and open a case that
-- holds payouts for each match that has none yet. Returns the number of new cases.
-- A name matches if all its words are among the words of the other, at least two of them; the date of birth must be that
-- of the entry as far as it is known, and in full for a single word.
CREATE OR REPLACE FUNCTION players_screen(player bigint) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    hit record;
    number bigint;
    made integer := 0;
BEGIN
    FOR hit IN
        WITH shared AS (
            SELECT DISTINCT who.id AS player_id, e.id AS entry_id
            FROM players_screening_entry AS e
            CROSS JOIN LATERAL jsonb_array_elements(e.names) AS n (words)
            CROSS JOIN LATERAL jsonb_array_elements_text(n.words) AS w (word)
            JOIN players_searchword AS said ON said.field = 'name' AND said.word = w.word COLLATE "C"
                AND (players_screen.player IS NULL OR said.player_id = players_screen.player)
            JOIN players_player AS who ON who.id = said.player_id AND starts_with(to_char(who.birth_date, 'YYYY-MM-DD'), e.born)
            WHERE e.removed_at IS NULL
        )
        SELECT s.player_id, e.id, e.list, e.key, e.topic, e.name, e.published
        FROM shared AS s JOIN players_screening_entry AS e ON e.id = s.entry_id
        CROSS JOIN LATERAL (
            SELECT array_agg(DISTINCT w.word::text COLLATE "default") AS words FROM players_searchword AS w
            WHERE w.player_id = s.player_id AND w.field = 'name') AS own
        WHERE EXISTS (
            SELECT FROM jsonb_array_elements(e.names) AS n (words)
            CROSS JOIN LATERAL (SELECT array_agg(DISTINCT w.word) AS words FROM jsonb_array_elements_text(n.words) AS w (word)) AS listed
            WHERE (listed.words <@ own.words OR own.words <@ listed.words)
                AND (least(cardinality(listed.words), cardinality(own.words)) > 1 OR length(e.born) = 10))
        AND NOT EXISTS (
            SELECT FROM players_case AS c WHERE c.player_id = s.player_id AND c.kind = 'screening' AND c.subject = 'listed:' || e.id)
        AND NOT EXISTS (SELECT FROM players_closure AS c WHERE c.player_id = s.player_id AND c.state IN ('closed', 'erased'))
        ORDER BY s.player_id, e.id
    LOOP
        number := players_begin_case(
            hit.player_id, 'screening', 'listed:' || hit.id, 'system', clock_timestamp() + interval '1 day',
            format('%s: %s, %s (%s)', hit.list, hit.name, hit.topic, hit.published));
        IF number IS NOT NULL THEN
            made := made + 1;
            PERFORM audit_write('screening.matched', 'system', 'case:' || number, format(
                '{"by":"system","data":{"entry":%s,"key":%s,"list":%s,"player":"player:%s","published":%s},"kind":"screening.matched","on":"case:%s"}',
                hit.id, to_json(hit.key), to_json(hit.list), hit.player_id, to_json(hit.published::text), number), NULL);
        END IF;
    END LOOP;
    RETURN made;
END $$;
REVOKE ALL ON FUNCTION players_screen FROM PUBLIC;

-- Return whether two people agreed to close a case of screening like this since it was last opened: `staff`, who closes
-- it, approved what another asked for, and both still may.
CREATE OR REPLACE FUNCTION players_two_close_case("case" bigint, staff bigint, outcome text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        WHERE asked.kind = 'screening.decide' AND asked."on" = 'case:' || "case" AND decided."by" = 'staff:' || staff
          AND asked.request::jsonb @> jsonb_build_object('case', "case", 'outcome', outcome)
          AND decided.at > (SELECT max(e.at) FROM players_case_entry AS e WHERE e.case_id = "case" AND e.action IN ('opened', 'reopened'))
          AND players_staff_may(asked."by", asked.person, 'audit', 'handle_significant')
          AND players_staff_may(decided."by", decided.person, 'audit', 'handle_significant'))
$$;
