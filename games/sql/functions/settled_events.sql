-- The events of settled rounds of live tables. games_finish_solo_round records those of solo rounds.
--
--   SB131 the event does not belong to a round that this transaction has settled

-- Record that a round of a live table, or a coup of Chemin de Fer, is settled; return the id of the event.
-- `rest`: the event as audit_write takes it, of kind round.settled, by system.
-- Raises SB131 unless the round was stored in this transaction and the event has its code, cards, outcome,
-- commitment, first card, money, shoe and table version; and the errors of audit_write.
CREATE OR REPLACE FUNCTION games_record_settled(round uuid, rest text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_round AS r
    WHERE r.id = round AND r.shoe_id IS NOT NULL AND r.outcome <> '' AND r.at >= transaction_timestamp()
        AND rest::jsonb -> 'data' @> jsonb_build_object(
            'cards', r.cards, 'code', r.code, 'commitment', r.commitment, 'first_card', r.first_card, 'mode', r.mode,
            'outcome', r.outcome, 'shoe', r.shoe_id, 'table_version', r.table_version_id);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'round % was not settled like this now', round USING ERRCODE = 'SB131';
    END IF;
    RETURN audit_write('round.settled', 'system', 'round:' || round, rest, NULL);
END $$;
REVOKE ALL ON FUNCTION games_record_settled FROM PUBLIC;
