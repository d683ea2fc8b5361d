-- Tables kept by months. A month is a block of 2^32 ids, so a row's id tells in which table it is.

-- The first id of the month in which that moment lies, in UTC: months are counted from January 2000, and each has 2^32 ids.
CREATE OR REPLACE FUNCTION audit_block(moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (12 * (extract(year FROM moment AT TIME ZONE 'UTC') - 2000) + extract(month FROM moment AT TIME ZONE 'UTC') - 1)::bigint << 32
$$;

-- The moment at which the month of a block begins.
CREATE OR REPLACE FUNCTION audit_month_of(block bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (timestamp '2000-01-01' + make_interval(months => (block >> 32)::integer)) AT TIME ZONE 'UTC'
$$;

-- Makes the table of one month of `kept`, whose ids end before `beyond`, as that of the month before is made: with every rule of `kept` that
-- holds for a statement as a whole, since a statement about one month alone would pass by those; and with unique indexes of its own, where
-- the whole can have none. It is made apart and joined when it is whole: nobody who reads or writes waits for that.
CREATE OR REPLACE FUNCTION audit_open_month(kept text, beyond bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    first bigint := audit_block(audit_month_of(beyond) - interval '1 day');
    fresh text := kept || to_char(audit_month_of(first) AT TIME ZONE 'UTC', '_YYYY_MM');
    before text;
    each text;
BEGIN
    SELECT c.relname INTO STRICT before FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = kept::regclass ORDER BY c.relname = kept || '_before', c.relname DESC LIMIT 1;
    EXECUTE format('CREATE TABLE public.%I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', fresh, kept);
    FOR each IN
        SELECT pg_get_triggerdef(oid) FROM pg_trigger
        WHERE tgrelid = kept::regclass AND NOT tgisinternal AND tgtype & 1 = 0 ORDER BY tgname
    LOOP
        EXECUTE replace(each, format(' ON public.%I ', kept), format(' ON public.%I ', fresh));
    END LOOP;
    FOR each IN
        SELECT pg_get_indexdef(i.indexrelid) FROM pg_index AS i
        WHERE i.indrelid = before::regclass AND i.indisunique AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = i.indexrelid)
    LOOP
        EXECUTE replace(each, before, fresh);
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', kept, fresh, first, beyond);
END $$;
REVOKE ALL ON FUNCTION audit_open_month FROM PUBLIC;

-- Sees to it that `kept` has a table for this month and for so many to come, and begins this month's block if ids are still those of an
-- earlier one. Whoever comes late costs nothing: rows go on into the month before. At most half a second is waited for whoever holds a table.
-- A month is begun between two transactions: whoever draws a number writes into `door` first, `kept` itself where it is not said, so that
-- nobody draws one before the month and takes a place after it. So a month has all that was before the next one, and nothing of it.
CREATE OR REPLACE FUNCTION audit_keep_months(kept text, ahead integer, door text DEFAULT NULL) RETURNS void
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
        WHERE c.relname = kept AND c.relnamespace = 'public'::regnamespace) THEN
        RAISE EXCEPTION '% is not kept by months, or not % ahead', kept, ahead USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_advisory_xact_lock(1012, 14);  -- one at a time
    FOR each IN month .. month + ahead LOOP
        IF to_regclass(format('public.%I', kept || to_char(audit_month_of(each::bigint << 32) AT TIME ZONE 'UTC', '_YYYY_MM'))) IS NULL THEN
            PERFORM audit_open_month(kept, (each + 1)::bigint << 32);
        END IF;
    END LOOP;
    SELECT pg_get_serial_sequence('public.' || quote_ident(kept), attname) INTO numbers
    FROM pg_attribute WHERE attrelid = kept::regclass AND attidentity <> '';
    IF numbers IS NOT NULL THEN
        EXECUTE format('SELECT last_value FROM %s', numbers) INTO last;
        IF last < block THEN
            EXECUTE format('LOCK TABLE public.%I IN SHARE ROW EXCLUSIVE MODE', coalesce(door, kept));
            PERFORM setval(numbers, block, false);
        END IF;
    END IF;
END $$;
REVOKE ALL ON FUNCTION audit_keep_months FROM PUBLIC;

-- Has the planner know how the rows of `kept` are spread over all months: nobody else ever counts them, since each month is looked after by
-- itself.
CREATE OR REPLACE FUNCTION audit_count_months(kept text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '500ms' AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_partitioned_table AS p JOIN pg_class AS c ON c.oid = p.partrelid
                   WHERE c.relname = kept AND c.relnamespace = 'public'::regnamespace) THEN
        RAISE EXCEPTION '% is not kept by months', kept USING ERRCODE = 'invalid_parameter_value';
    END IF;
    EXECUTE format('ANALYZE ONLY public.%I', kept);
END $$;
REVOKE ALL ON FUNCTION audit_count_months FROM PUBLIC;

-- The first id that has not gone to an archive: what is below it is no longer here.
CREATE OR REPLACE FUNCTION audit_cut() RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(max(beyond), 0) FROM audit_archived
$$;

-- Months go in their order, none twice, and each as an event of the log says, of which the row has the very bytes: they are proven by the tree
-- even when the month of that event has gone, too.
CREATE OR REPLACE FUNCTION audit_month_is_next() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := convert_from(NEW.said, 'UTF8')::jsonb;
BEGIN
    IF NEW.first <> audit_cut() OR NEW.beyond <= NEW.first
        OR NOT EXISTS (SELECT FROM audit_event WHERE id = NEW.event_id AND body = NEW.said)
        OR (said ->> 'kind', said ->> 'on') IS DISTINCT FROM ('month.archived', 'month:' || NEW.month)
        OR (said #>> '{data,beyond}', said #>> '{data,file}', said #>> '{data,sha256}')
            IS DISTINCT FROM (NEW.beyond::text, NEW.file, NEW.sha256) THEN
        RAISE EXCEPTION '% is not archived as the log says', NEW.month USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
