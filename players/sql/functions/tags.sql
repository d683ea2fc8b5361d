-- Tags of players, from a list of the house. Only these functions write players_tag and players_player_tag, each with an
-- event; that of a player's tag is about the player, who can export it.
--
--   SB156 the staff member may not do this
--   SB157 a name, a tag or a state that does not fit

-- Return whether a staff account is active and has a permission of players or audit.
CREATE OR REPLACE FUNCTION players_tagger_may(staff bigint, app text, codename text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM players_staff AS s WHERE s.id = staff AND players_staff_may('staff:' || s.id, s.person, app, codename))
$$;

-- Add a tag to the list, as a staff member of compliance. Returns its id.
-- Raises SB156 without the permission, SB157 for an empty or long name or one that is on the list. The name of a tag that is
-- off the list is free.
CREATE OR REPLACE FUNCTION players_make_tag(staff bigint, called text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    made bigint;
BEGIN
    IF NOT players_tagger_may(staff, 'audit', 'handle_significant') THEN
        RAISE EXCEPTION 'staff % may not change the list of tags', staff USING ERRCODE = 'SB156';
    END IF;
    IF length(btrim(called)) NOT BETWEEN 2 AND 30 THEN
        RAISE EXCEPTION 'a tag has 2 to 30 characters' USING ERRCODE = 'SB157';
    END IF;
    INSERT INTO players_tag (name) VALUES (btrim(called)) ON CONFLICT DO NOTHING RETURNING id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'tag % is on the list', called USING ERRCODE = 'SB157';
    END IF;
    PERFORM audit_write('tag.made', 'staff:' || staff, 'tag:' || made, format(
        '{"by":"staff:%s","data":{"name":%s},"kind":"tag.made","on":"tag:%s"}', staff, to_json(btrim(called)), made), NULL);
    RETURN made;
END $$;
REVOKE ALL ON FUNCTION players_make_tag FROM PUBLIC;

-- Take a tag off the list, as a staff member of compliance. Players keep it until it is removed from them.
-- Raises SB156 without the permission, SB157 if it is off the list.
CREATE OR REPLACE FUNCTION players_retire_tag(staff bigint, tag bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT players_tagger_may(staff, 'audit', 'handle_significant') THEN
        RAISE EXCEPTION 'staff % may not change the list of tags', staff USING ERRCODE = 'SB156';
    END IF;
    UPDATE players_tag AS t SET retired_at = clock_timestamp() WHERE t.id = tag AND t.retired_at IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'tag % is off the list', tag USING ERRCODE = 'SB157';
    END IF;
    PERFORM audit_write('tag.retired', 'staff:' || staff, 'tag:' || tag, format(
        '{"by":"staff:%s","data":{},"kind":"tag.retired","on":"tag:%s"}', staff, tag), NULL);
END $$;
REVOKE ALL ON FUNCTION players_retire_tag FROM PUBLIC;

-- Put a tag on a player, or remove it, as a staff member who may write notes about players.
-- Raises SB156 without the permission, SB157 if it is so already, or for a tag that is off the list.
CREATE OR REPLACE FUNCTION players_tag_player(staff bigint, player bigint, tag bigint, is_on boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    event text := CASE WHEN is_on THEN 'player.tagged' ELSE 'player.untagged' END;
BEGIN
    IF NOT players_tagger_may(staff, 'players', 'note_players') THEN
        RAISE EXCEPTION 'staff % may not tag players', staff USING ERRCODE = 'SB156';
    END IF;
    IF is_on THEN
        INSERT INTO players_player_tag (player_id, tag_id, by_id)
        SELECT player, t.id, staff FROM players_tag AS t WHERE t.id = tag AND t.retired_at IS NULL
        ON CONFLICT (player_id, tag_id) WHERE removed_at IS NULL DO NOTHING;
    ELSE
        UPDATE players_player_tag AS p SET removed_at = clock_timestamp(), removed_by_id = staff
        WHERE p.player_id = player AND p.tag_id = tag AND p.removed_at IS NULL;
    END IF;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'tag % of player % is so already', tag, player USING ERRCODE = 'SB157';
    END IF;
    PERFORM audit_write(event, 'staff:' || staff, 'player:' || player, format(
        '{"by":"staff:%s","data":{"name":%s,"tag":%s},"kind":"%s","on":"player:%s"}', staff,
        (SELECT to_json(t.name::text) FROM players_tag AS t WHERE t.id = tag), tag, event, player), NULL);
END $$;
REVOKE ALL ON FUNCTION players_tag_player FROM PUBLIC;
