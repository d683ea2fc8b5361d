-- Retention in days. 1826 days are five years. The minimum is what the law demands, or what the house needs to answer a
-- complaint where the law demands nothing.
INSERT INTO audit_retention (what, days, minimum, fields, source) VALUES
    ('account', 1826, 1826, '{}', 'Law: who a customer was is kept for five years after the business with them ends (money laundering acts)'),
    ('conversation', 1827, 1827, '{}', 'Law: complaints are kept for five years (GLI-19 v3.0, A.4.4)'),
    ('chat', 90, 90, '{}', 'Law: chat is kept for ninety days (GLI-19 v3.0, A.4.7)'),
    ('refused papers', 365, 90, '{}', 'Own choice: long enough to object to the refusal'),
    ('mail', 365, 30, '{}', 'Own choice: long enough to tell whether a player was told'),
    ('address', 730, 365, '{ip}', 'Own choice: two years; the law wants log-ins told for the past year (GLI-19 v3.0, 2.5.7, 2.8.5)'),
    ('wrong log-in', 90, 30, '{tried}', 'Own choice: long enough to see who tries to get in'),
    ('look', 730, 365, '{asked,from}', 'Own choice: as long as addresses of log-ins');

-- Thresholds, until compliance sets others. Two thousand euros at once is the amount from which European law has casinos
-- check who pays (Directive (EU) 2015/849, article 11). The other amounts, the sums and the round numbers in other
-- currencies are the house's own choice; a round with a thousand euros is far above the limits of most tables.
INSERT INTO audit_threshold (what, currency, single, summed, days)
SELECT what, currency, 100 * single * euro, 100 * summed * euro, days
FROM (VALUES ('EUR', 1), ('GBP', 1), ('RON', 5), ('DKK', 7), ('SEK', 10)) AS money (currency, euro),
     (VALUES ('win', 2000, 10000, 7), ('wager', 1000, 20000, 7),
             ('deposit', 2000, 10000, 30), ('withdrawal', 2000, 10000, 30)) AS amount (what, single, summed, days);
