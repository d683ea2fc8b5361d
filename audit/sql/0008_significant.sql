-- What was found stays as it was found; what was done about it, too.

CREATE TRIGGER audit_significant_step_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_significant_step
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_significant_is_kept BEFORE DELETE OR TRUNCATE ON audit_significant
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_significant_identity
    BEFORE UPDATE OF key, category, weight, event_id, "on", currency, amount, title, because, rows, happened_at, at
    ON audit_significant FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_threshold_is_kept BEFORE TRUNCATE ON audit_threshold
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- From when on somebody looks, until compliance says otherwise. Two thousand euros at once is the amount from which
-- European law (Directive (EU) 2015/849, article 11) has casinos look at who pays; the sums and the other amounts are the house's own
-- choice, and so are the round numbers in other currencies. Rounds with a thousand euros on them are far above the limits of most tables.

INSERT INTO audit_threshold (what, currency, single, summed, days)
SELECT what, currency, 100 * single * euro, 100 * summed * euro, days
FROM (VALUES ('EUR', 1), ('GBP', 1), ('RON', 5), ('DKK', 7), ('SEK', 10)) AS money (currency, euro),
     (VALUES ('win', 2000, 10000, 7), ('wager', 1000, 20000, 7),
             ('deposit', 2000, 10000, 30), ('withdrawal', 2000, 10000, 30)) AS amount (what, single, summed, days);
