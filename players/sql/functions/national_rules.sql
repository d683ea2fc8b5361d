-- Changes of the rules of a jurisdiction, as two people approved them. The role of web and workers
-- cannot write players_jurisdiction.
--
--   SB143 the approval is missing or not approved, or one of the two people may not do this
--   SB144 the rule or its source is not as the request says, or cannot be changed, or the request was
--         executed before

-- Change a rule of a jurisdiction as an approval says, and return the new row of its history.
-- `approval`: id of an approval of kind national_rule.change. Its request has `jurisdiction`, `rule` (a
-- column of players_jurisdiction), `before`, `after`, `source_before` and `source`.
-- Raises SB143 and SB144 as in the list above. For a value that the column cannot have, raises the error
-- of its type or constraint (class 22 or 23).
-- Locks the jurisdiction. An approval is executed once.
CREATE OR REPLACE FUNCTION players_change_national_rule(approval bigint) RETURNS SETOF players_national_rule_change
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    wish jsonb;
    rules jsonb;
    rule text;
BEGIN
    SELECT asked.request::jsonb INTO wish
    FROM audit_approval AS asked
    JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
    WHERE asked.id = approval AND asked.kind = 'national_rule.change'
      AND players_staff_may(asked."by", asked.person, 'players', 'ask_national_rules')
      AND players_staff_may(decided."by", decided.person, 'players', 'decide_national_rules');
    IF wish IS NULL THEN
        RAISE EXCEPTION 'approval % changes no national rule', approval USING ERRCODE = 'SB143';
    END IF;
    rule := wish ->> 'rule';
    SELECT to_jsonb(j) INTO rules FROM players_jurisdiction AS j WHERE j.code = wish ->> 'jurisdiction' FOR UPDATE;
    IF (rule NOT IN ('code', 'language', 'currencies', 'time_zone', 'licence') AND rules ? rule AND rules -> rule = wish -> 'before'
        AND NOT EXISTS (SELECT FROM players_national_rule_change AS c WHERE c.approval_id = approval)
        AND wish ->> 'source_before' = coalesce((
            SELECT c.source FROM players_national_rule_change AS c
            WHERE c.jurisdiction_id = wish ->> 'jurisdiction' AND c.rule = wish ->> 'rule' ORDER BY c.id DESC LIMIT 1), 'c')) IS NOT TRUE
    THEN
        RAISE EXCEPTION 'the rule % of % is not as approval % says', rule, wish ->> 'jurisdiction', approval USING ERRCODE = 'SB144';
    END IF;
    EXECUTE format(
        'UPDATE players_jurisdiction AS j SET %1$I = (jsonb_populate_record(j, $1)).%1$I WHERE j.code = $2', rule)
        USING jsonb_build_object(rule, wish -> 'after'), wish ->> 'jurisdiction';
    RETURN QUERY
    INSERT INTO players_national_rule_change AS c (jurisdiction_id, rule, before, after, source, approval_id)
    VALUES (wish ->> 'jurisdiction', wish ->> 'rule', wish -> 'before', wish -> 'after', wish ->> 'source', approval)
    RETURNING c.*;
END $$;
REVOKE ALL ON FUNCTION players_change_national_rule FROM PUBLIC;
