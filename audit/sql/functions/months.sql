-- Tables that are partitioned by month. A month is a block of 2^32 ids, so the id of a row tells which
-- partition holds it.

-- Return the first id of the month, in UTC, that contains a moment. Months are counted from January
-- 2000.
CREATE OR REPLACE FUNCTION audit_block(moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (12 * (extract(year FROM moment AT TIME ZONE 'UTC') - 2000) + extract(month FROM moment AT TIME ZONE 'UTC') - 1)::bigint << 32
$$;

-- Return the moment, in UTC, when the month of a block of ids begins.
-- `block`: any id of the month.
CREATE OR REPLACE FUNCTION audit_month_of(block bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (timestamp '2000-01-01' + make_interval(months => (block >> 32)::integer)) AT TIME ZONE 'UTC'
$$;

-- Make the table of one month and attach it to its partitioned table.
-- `parent`: name of the partitioned table. `beyond`: the first id after the month.
-- Raises no_data_found (P0002) if `parent` has no partition yet.
--
-- The new table gets the statement-level triggers of `parent`, because a statement on the month's
-- table would bypass them, and the unique indexes of the previous month that the partitioned table
-- cannot have. It is attached when it is complete, so that readers and writers do not wait.
CREATE OR REPLACE FUNCTION audit_open_month(parent text, beyond bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    first bigint := audit_block(audit_month_of(beyond) - interval '1 day');
    fresh text := parent || to_char(audit_month_of(first) AT TIME ZONE 'UTC', '_YYYY_MM');
    before text;
    each text;
BEGIN
    SELECT c.relname INTO STRICT before FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = parent::regclass ORDER BY c.relname = parent || '_before', c.relname DESC LIMIT 1;
    EXECUTE format('CREATE TABLE public.%I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', fresh, parent);
    FOR each IN
        SELECT pg_get_triggerdef(oid) FROM pg_trigger
        WHERE tgrelid = parent::regclass AND NOT tgisinternal AND tgtype & 1 = 0 ORDER BY tgname
    LOOP
        EXECUTE replace(each, format(' ON public.%I ', parent), format(' ON public.%I ', fresh));
    END LOOP;
    FOR each IN
        SELECT pg_get_indexdef(i.indexrelid) FROM pg_index AS i
        WHERE i.indrelid = before::regclass AND i.indisunique AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = i.indexrelid)
    LOOP
        EXECUTE replace(each, before, fresh);
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, fresh, first, beyond);
END $$;
REVOKE ALL ON FUNCTION audit_open_month FROM PUBLIC;

-- Make the tables of this month and the next ones, and begin this month's block of ids if ids are
-- still of an earlier month. Running it again, or late, is harmless: until then rows go to the
-- month before.
-- `parent`: name of a table partitioned by months. `ahead`: number of months to make in advance, 0 to
-- 12. `door`: a table that a transaction may write to before it draws an id of `parent` and writes
-- that; NULL if there is none.
-- Raises invalid_parameter_value (22023) for another table or number, lock_not_available (55P03) if
-- a lock takes longer than half a second.
-- Locks advisory lock (1012, 14), then `door` and `parent` against writers when a month begins. So no
-- transaction draws an id before the month begins and uses it afterwards, and a month contains all
-- earlier rows and no later ones.
CREATE OR REPLACE FUNCTION audit_keep_months(parent text, ahead integer, door text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE
    now_is timestamptz := clock_timestamp();
    block bigint := audit_block(now_is);
    month bigint := block >> 32;
    numbers text;
    last bigint;
BEGIN
    IF ahead NOT BETWEEN 0 AND 12 OR NOT EXISTS (
        SELECT FROM pg_partitioned_table AS p JOIN pg_class AS c ON c.oid = p.partrelid
        WHERE c.relname = parent AND c.relnamespace = 'public'::regnamespace) THEN
        RAISE EXCEPTION '% is not parent by months, or not % ahead', parent, ahead USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(1012, 14);  -- only one transaction at a time
    FOR each IN month .. month + ahead LOOP
        IF to_regclass(format('public.%I', parent || to_char(audit_month_of(each::bigint << 32) AT TIME ZONE 'UTC', '_YYYY_MM'))) IS NULL THEN
            PERFORM audit_open_month(parent, (each + 1)::bigint << 32);
        END IF;
    END LOOP;
    SELECT pg_get_serial_sequence('public.' || quote_ident(parent), attname) INTO numbers
    FROM pg_attribute WHERE attrelid = parent::regclass AND attidentity <> '';
    IF numbers IS NOT NULL THEN
        EXECUTE format('SELECT last_value FROM %s', numbers) INTO last;
        IF last < block THEN
            EXECUTE format('LOCK TABLE public.%I, public.%I IN SHARE ROW EXCLUSIVE MODE', coalesce(door, parent), parent);
            PERFORM setval(numbers, block, false);
        END IF;
    END IF;
END $$;
REVOKE ALL ON FUNCTION audit_keep_months FROM PUBLIC;

-- Collect planner statistics of a table partitioned by months, over all months. PostgreSQL collects
-- them for each month only.
-- `parent`: name of the table.
-- Raises invalid_parameter_value (22023) for another table, lock_not_available (55P03) after half a
-- second.
CREATE OR REPLACE FUNCTION audit_count_months(parent text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '500ms' AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_partitioned_table AS p JOIN pg_class AS c ON c.oid = p.partrelid
                   WHERE c.relname = parent AND c.relnamespace = 'public'::regnamespace) THEN
        RAISE EXCEPTION '% is not parent by months', parent USING ERRCODE = 'invalid_parameter_value';
    END IF;
    EXECUTE format('ANALYZE ONLY public.%I', parent);
END $$;
REVOKE ALL ON FUNCTION audit_count_months FROM PUBLIC;
