-- Eligibility: the reasons for which a player may not start to play or deposit.

-- Return the first reason why a player may not deposit, as a code of players.protection.eligibility, in
-- one row; NULL if they may. The caller must have called players_hold_off_exclusions.
-- `terms`: version of the terms that the player must have agreed to. `is_real`: whether it is about real
-- money that is held here. Then the house needs the licence that the jurisdiction asks for, the identity must be
-- confirmed, and limits on deposits set or offered.
-- A function in FROM, so that PostgreSQL inlines it, here and below.
CREATE OR REPLACE FUNCTION players_reason_against(player bigint, terms text, is_real boolean) RETURNS TABLE (reason text)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT e.reason FROM public.players_exclusion_of(player) AS e),
        CASE WHEN is_real AND EXISTS (
            SELECT FROM public.players_player AS p JOIN public.players_jurisdiction AS j ON j.code = p.jurisdiction_id
            WHERE p.id = player AND j.asks_licence AND j.licence = '') THEN 'licence' END,
        CASE WHEN NOT EXISTS (SELECT FROM public.players_agreement AS a WHERE a.player_id = player AND a.terms_version = terms)
            THEN 'terms' END,
        CASE WHEN is_real THEN coalesce(
            (SELECT i.reason FROM public.players_identity_due(player) AS i),
            (SELECT d.reason FROM public.players_limits_due(player) AS d)) END)
$$;

-- Return the first reason why a player may not begin to play, as players_reason_against does.
-- `playing`: id of the play session. `usual`: see players_check_due.
CREATE OR REPLACE FUNCTION players_reason_against_play(
    player bigint, terms text, is_real boolean, playing uuid, usual integer
) RETURNS TABLE (reason text)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT r.reason FROM public.players_reason_against(player, terms, is_real) AS r),
        CASE WHEN EXISTS (SELECT FROM public.players_limitchange AS c
                          WHERE c.player_id = player AND c.kind = ANY (public.players_limits_on_play()))
             AND public.players_limit_used_up(player) IS NOT NULL THEN 'used_up' END,
        (SELECT 'check' FROM public.players_check_due(player, playing, usual) AS c WHERE c.due))
$$;

-- Return what players_reason_against returns, or 'borrowed' if staff know that the player deposits borrowed money,
-- after holding off exclusions until the transaction ends.
-- VOLATILE and in PL/pgSQL, so that it sees what was committed while it waited, here and below.
CREATE OR REPLACE FUNCTION players_ineligibility_to_deposit(player bigint, terms text, is_real boolean) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    held_off text := public.players_hold_off_exclusions(player);
BEGIN
    RETURN coalesce(
        (SELECT e.reason FROM public.players_exclusion_of(player) AS e),
        CASE WHEN public.players_borrows(player) THEN 'borrowed' END,
        (SELECT r.reason FROM public.players_reason_against(player, terms, is_real) AS r));
END $$;

-- Return what players_reason_against_play returns, after holding off exclusions until the transaction
-- ends.
CREATE OR REPLACE FUNCTION players_ineligibility(
    player bigint, terms text, is_real boolean, playing uuid, usual integer
) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    held_off text := public.players_hold_off_exclusions(player);
BEGIN
    RETURN (SELECT r.reason FROM public.players_reason_against_play(player, terms, is_real, playing, usual) AS r);
END $$;
