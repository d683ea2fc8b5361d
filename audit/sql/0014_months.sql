-- Months. What only grows is kept in tables of a month each: `audit_event` here, journals and entries a floor above. They are told
-- apart by their id, of which every month has a block of its own, so that what refers to a row finds it by nothing else.

-- The first id of the month in which that moment lies, in UTC: months are counted from January 2000, and each has 2^32 ids.
CREATE FUNCTION audit_block(moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (12 * (extract(year FROM moment AT TIME ZONE 'UTC') - 2000) + extract(month FROM moment AT TIME ZONE 'UTC') - 1)::bigint << 32
$$;

-- The moment at which the month of a block begins.
CREATE FUNCTION audit_month_of(block bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (timestamp '2000-01-01' + make_interval(months => (block >> 32)::integer)) AT TIME ZONE 'UTC'
$$;

-- Makes the table of one month of `kept`, whose ids end before `beyond`, as that of the month before is made: with every rule of `kept` that
-- holds for a statement as a whole, since a statement about one month alone would pass by those; and with unique indexes of its own, where
-- the whole can have none. It is made apart and joined when it is whole: nobody who reads or writes waits for that.
CREATE FUNCTION audit_open_month(kept text, beyond bigint) RETURNS void
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

-- Sees to it that `kept` has a table for this month and for so many to come, and begins this month's block if ids are still those of an
-- earlier one. Whoever comes late costs nothing: rows go on into the month before. At most half a second is waited for whoever holds a table.
-- A month is begun between two transactions: whoever draws a number writes into `door` first, `kept` itself where it is not said, so that
-- nobody draws one before the month and takes a place after it. So a month has all that was before the next one, and nothing of it.
CREATE FUNCTION audit_keep_months(kept text, ahead integer, door text DEFAULT NULL) RETURNS void
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

-- Has the planner know how the rows of `kept` are spread over all months: nobody else ever counts them, since each month is looked after by
-- itself.
CREATE FUNCTION audit_count_months(kept text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '500ms' AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_partitioned_table AS p JOIN pg_class AS c ON c.oid = p.partrelid
                   WHERE c.relname = kept AND c.relnamespace = 'public'::regnamespace) THEN
        RAISE EXCEPTION '% is not kept by months', kept USING ERRCODE = 'invalid_parameter_value';
    END IF;
    EXECUTE format('ANALYZE ONLY public.%I', kept);
END $$;

-- Cuts a table by months: what it holds becomes the one before all months, and stays where it is; everything that was said of the table is said
-- of the whole from now on. `key` is what it is told apart by, and `beyond` the first id of the first month, which nothing in it has come to:
-- the constraint that says so has been validated before, so that nothing is read while whoever plays waits.
CREATE FUNCTION audit_cut_by_months(kept text, key text, beyond bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before text := kept || '_before';
    each record;
    definitions text[];
    numbered boolean := EXISTS (SELECT FROM pg_attribute WHERE attrelid = kept::regclass AND attidentity <> '');
BEGIN
    EXECUTE format('ALTER TABLE %I RENAME TO %I', kept, before);
    -- Indexes of the whole have the names that they had; a unique one that does not know the key stays with its table alone.
    FOR each IN
        SELECT c.relname AS name, pg_get_indexdef(c.oid) AS definition, i.indisprimary AS is_primary, i.indisunique AS is_unique
        FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid WHERE i.indrelid = before::regclass ORDER BY c.relname
    LOOP
        EXECUTE format('ALTER INDEX %I RENAME TO %I', each.name, replace(each.name, kept, before));
        IF NOT each.is_unique THEN
            definitions := definitions || replace(each.definition, format(' ON public.%I ', before), format(' ON public.%I ', kept));
        END IF;
    END LOOP;
    EXECUTE format('CREATE TABLE public.%I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (%I)', kept, before, key);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', kept, kept || '_comes_before');
    FOR each IN
        SELECT conname AS name, contype AS type, pg_get_constraintdef(oid) AS definition, conindid::regclass::text AS index
        FROM pg_constraint WHERE conrelid = before::regclass AND contype IN ('p', 'f')
    LOOP
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', kept, replace(each.name, before, kept), each.definition);
    END LOOP;
    IF numbered THEN
        EXECUTE format('ALTER TABLE %I ALTER %I DROP IDENTITY', before, key);
        EXECUTE format('ALTER TABLE %I ALTER %I ADD GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME %I START WITH %s MINVALUE 1)',
                       kept, key, kept || '_' || key || '_seq', beyond);
    END IF;
    -- Rules about a row come down from the whole to each month by themselves, those about a statement hold where they were made.
    FOR each IN
        SELECT tgname AS name, pg_get_triggerdef(oid) AS definition, tgtype & 1 = 1 AS is_of_a_row
        FROM pg_trigger WHERE tgrelid = before::regclass AND NOT tgisinternal ORDER BY tgname
    LOOP
        IF each.is_of_a_row THEN
            EXECUTE format('DROP TRIGGER %I ON %I', each.name, before);
        END IF;
        definitions := definitions || replace(each.definition, format(' ON public.%I ', before), format(' ON public.%I ', kept));
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%s)', kept, before, beyond);
    FOREACH before IN ARRAY definitions LOOP
        EXECUTE before;
    END LOOP;
    before := kept || '_before';
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', before, kept || '_comes_before');
    -- Whoever might read it may read the whole, and no part of it.
    FOR each IN
        SELECT a.grantee::regrole AS role, a.privilege_type AS what FROM pg_class AS c, aclexplode(c.relacl) AS a
        WHERE c.oid = before::regclass AND a.grantee <> c.relowner AND a.grantee <> 0
    LOOP
        EXECUTE format('GRANT %s ON %I TO %s', each.what, kept, each.role);
        EXECUTE format('REVOKE %s ON %I FROM %s', each.what, before, each.role);
    END LOOP;
END $$;


-- What has been archived ----------------------------------------------------------------------------------------------------------------

-- The first id that has not gone to an archive: what is below it is no longer here.
CREATE FUNCTION audit_cut() RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(max(beyond), 0) FROM audit_archived
$$;

CREATE TRIGGER audit_archived_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_archived
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- Months go in their order, none twice, and each as an event of the log says, of which the row has the very bytes: they are proven by the tree
-- even when the month of that event has gone, too.
CREATE FUNCTION audit_month_is_next() RETURNS trigger
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

CREATE TRIGGER audit_archived_event_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_archived_event
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

CREATE TRIGGER audit_archived_is_next BEFORE INSERT ON audit_archived
    FOR EACH ROW EXECUTE FUNCTION audit_month_is_next();

REVOKE ALL ON FUNCTION audit_open_month, audit_keep_months, audit_count_months, audit_cut_by_months FROM PUBLIC;
