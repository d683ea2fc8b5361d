"""The invariant of months that have gone to an archive, as a question to PostgreSQL."""

from wallet.invariants import Invariant

ARCHIVED = Invariant(
    "archived_months_are_as_said",
    "what archived months are carried forward as is what the log said when they went, and nothing else of their"
    " journals is here",
    """
    SELECT format('month %s: what is carried of it has SHA-256 %s, the log says %s', m.month, has.digest, has.said)
    FROM audit_archived AS m
    CROSS JOIN LATERAL (SELECT wallet_carried_digest(m.month) AS digest,
                               convert_from(m.said, 'UTF8')::jsonb #>> '{data,carried}' AS said) AS has
    WHERE has.digest IS DISTINCT FROM has.said
    UNION ALL
    SELECT format('month %s: %s posting keys, %s journals went to its archive', m.month, k.count, m.journals)
    FROM audit_archived AS m
    CROSS JOIN LATERAL (SELECT count(*) AS count FROM wallet_posting_key AS k
                        WHERE k.journal_id >= m.first AND k.journal_id < m.beyond) AS k
    WHERE k.count <> m.journals
    UNION ALL
    SELECT format('journal %s: is here, and its month has gone to an archive', j.id)
    FROM wallet_journal AS j WHERE j.id < (SELECT audit_cut())
    UNION ALL
    SELECT format('journal %s line %s: is here, and its month has gone to an archive', e.journal_id, e.line)
    FROM wallet_entry AS e WHERE e.journal_id < (SELECT audit_cut())
    UNION ALL
    SELECT format('month %s: is carried forward, and has gone to no archive', of.month)
    FROM (SELECT month FROM wallet_archived_account UNION SELECT month FROM wallet_archived_day
          UNION SELECT month FROM wallet_archived_journal) AS of
    WHERE NOT EXISTS (SELECT FROM audit_archived AS m WHERE m.month = of.month)
    UNION ALL
    SELECT format('journal %s: stayed of month %s, which it is not of', j.id, j.month)
    FROM wallet_archived_journal AS j JOIN audit_archived AS m USING (month) WHERE j.id < m.first OR j.id >= m.beyond
    UNION ALL
    SELECT format('journal %s line %s: stayed without its journal', e.journal_id, e.line)
    FROM wallet_archived_entry AS e
    WHERE NOT EXISTS (SELECT FROM wallet_archived_journal AS j WHERE j.id = e.journal_id)
    """,
)
