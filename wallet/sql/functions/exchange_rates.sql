-- Exchange rates for figures that staff read. Nothing that moves money reads them. Only wallet_store_exchange_rates
-- writes wallet_exchange_rate, with an event; wallet_verify_exchange_rates compares the rows with their events.
--
--   SB170 the staff member may not enter rates
--   SB171 rates that do not fit: none or too many, a day twice, too early or in the future, zero or too large

-- Store rates of days against `base`, as a staff member with the permission enter_exchange_rates. `given` is a JSON array
-- of [day, currency, rate as text]; a rate says how much of the currency one unit of `base` is worth. A rate that is in
-- force already is left out. All of them are stored or none.
-- Returns the number of rates that were stored.
-- Raises SB170, SB171, check_violation (23514) for an unknown currency, and errors of the types for what cannot be read.
-- Locks advisory lock (1022, 2), so that the event names the rates that were in force before.
CREATE OR REPLACE FUNCTION wallet_store_exchange_rates(staff bigint, base text, given jsonb, imported boolean) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    stored integer;
    corrected boolean;
    said text;
    event text;
BEGIN
    IF NOT EXISTS (
        SELECT FROM players_staff AS s
        WHERE s.id = staff AND players_staff_may('staff:' || s.id, s.person, 'wallet', 'enter_exchange_rates'))
    THEN
        RAISE EXCEPTION 'staff % may not enter exchange rates', staff USING ERRCODE = 'SB170';
    END IF;
    PERFORM pg_advisory_xact_lock(1022, 2);
    IF jsonb_typeof(given) IS DISTINCT FROM 'array' OR jsonb_array_length(given) NOT BETWEEN 1 AND 1000 OR EXISTS (
        SELECT FROM jsonb_array_elements(given) AS each GROUP BY (each ->> 0)::date, each ->> 1
        HAVING count(*) > 1 OR (each ->> 0)::date NOT BETWEEN '2000-01-01' AND (clock_timestamp() AT TIME ZONE 'UTC')::date + 1
            OR min((each ->> 2)::numeric) NOT BETWEEN 0.00000001 AND 1000000 OR min((each ->> 2)::numeric) IS NULL)
    THEN
        RAISE EXCEPTION 'these exchange rates do not fit' USING ERRCODE = 'SB171';
    END IF;
    WITH asked AS (
        SELECT (each ->> 0)::date AS day, each ->> 1 AS currency, round((each ->> 2)::numeric, 8) AS rate
        FROM jsonb_array_elements(given) AS each
    ), known AS (
        SELECT asked.*, (
            SELECT r.rate FROM wallet_exchange_rate AS r
            WHERE r.base = wallet_store_exchange_rates.base AND r.currency = asked.currency AND r.day = asked.day
            ORDER BY r.id DESC LIMIT 1) AS before
        FROM asked
    ), made AS (
        INSERT INTO wallet_exchange_rate (day, base, currency, rate, is_imported, by_id)
        SELECT k.day, wallet_store_exchange_rates.base, k.currency, k.rate, imported, staff FROM known AS k
        WHERE k.before IS DISTINCT FROM k.rate ORDER BY k.day, k.currency RETURNING day, currency, rate
    )
    SELECT count(*), bool_or(k.before IS NOT NULL), string_agg(
        format('["%s","%s","%s",%s]', m.day, m.currency, trim_scale(m.rate), coalesce('"' || trim_scale(k.before) || '"', 'null')),
        ',' ORDER BY m.day, m.currency)
    INTO stored, corrected, said FROM made AS m JOIN known AS k USING (day, currency);
    IF stored > 0 THEN
        event := CASE WHEN corrected THEN 'exchange_rates.corrected' ELSE 'exchange_rates.entered' END;
        PERFORM audit_write(event, 'staff:' || staff, 'exchange-rates:' || base, format(
            '{"by":"staff:%s","data":{"imported":%s,"rates":[%s]},"kind":"%s","on":"exchange-rates:%s"}',
            staff, to_json(imported), said, event, base), NULL);
    END IF;
    RETURN stored;
END $$;
REVOKE ALL ON FUNCTION wallet_store_exchange_rates FROM PUBLIC;

-- Compare each stored rate with the event that has stored it: the rates of a currency on a day are as many as the log says,
-- in its order. What is sorted has no whole event in it: that would be a gigabyte for some years of rates.
CREATE OR REPLACE FUNCTION wallet_verify_exchange_rates() RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT r.id, r.kind, r.base, r.currency, r.day,
            jsonb_build_object('rate', r.rate, 'is imported', r.is_imported, 'by', r.by) AS due,
            row_number() OVER (PARTITION BY r.base, r.currency, r.day ORDER BY r.id) AS number
        FROM (
            SELECT e.id, e.kind, e.by, substr(e."on", 16) AS base, d.data -> 'imported' AS is_imported, (each.value ->> 0)::date AS day,
                each.value ->> 1 AS currency, (each.value ->> 2)::numeric AS rate
            FROM audit_event AS e
            CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
            CROSS JOIN LATERAL jsonb_array_elements(d.data -> 'rates') AS each
            WHERE e.kind IN ('exchange_rates.entered', 'exchange_rates.corrected') OFFSET 0
        ) AS r
    ), stored AS MATERIALIZED (
        SELECT r.id, r.base::text, r.currency::text, r.day,
            jsonb_build_object('rate', trim_scale(r.rate), 'is imported', r.is_imported, 'by', 'staff:' || r.by_id) AS data,
            row_number() OVER (PARTITION BY r.base, r.currency, r.day ORDER BY r.id) AS number
        FROM wallet_exchange_rate AS r
    )
    SELECT 'exchange rates match the log', format('exchange-rates:%s', r.base), format(
        'exchange-rates:%s: rate %s of %s on %s: no event records it.', r.base, r.data ->> 'rate', r.currency, r.day)
    FROM stored AS r
    WHERE NOT EXISTS (SELECT FROM said AS s WHERE (s.base, s.currency, s.day, s.number) = (r.base, r.currency, r.day, r.number))
    UNION ALL
    SELECT 'exchange rates match the log', format('exchange-rates:%s', s.base), format(
        'exchange-rates:%s: rate of %s on %s: %s: the stored value is %s; event %s (%s) says %s.', s.base, s.currency, s.day, due.key,
        coalesce(r.data ->> due.key, 'nothing'), s.id, s.kind, due.value #>> '{}')
    FROM said AS s LEFT JOIN stored AS r USING (base, currency, day, number) CROSS JOIN LATERAL jsonb_each(s.due) AS due
    WHERE due.value IS DISTINCT FROM r.data -> due.key
$$;
