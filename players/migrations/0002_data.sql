-- Roles of staff and what each of them may do. Django makes rows of permissions only after all migrations have run: those
-- that roles need are made here, under the names that the models declare, and Django then finds them.

INSERT INTO auth_group (name) VALUES
    ('operator'), ('supervisor'), ('finance'), ('compliance'), ('support'), ('administrator');

WITH granted (app_label, model, codename, name, roles) AS (VALUES
    ('audit', 'approval', 'view_approval', 'Can view approval', 'compliance'),
    ('audit', 'event', 'export_rows', 'Can export lists', 'compliance finance'),
    ('audit', 'event', 'view_event', 'Can view event', 'compliance'),
    ('audit', 'report', 'view_report', 'Can view report', 'compliance finance'),
    ('audit', 'retention', 'change_retention', 'Can change retention', 'compliance'),
    ('audit', 'significant', 'handle_significant', 'Can work on significant events', 'compliance'),
    ('audit', 'threshold', 'change_threshold', 'Can change threshold', 'compliance'),
    ('games', 'chatreport', 'moderate_chat', 'Can moderate the chat', 'supervisor support'),
    ('games', 'chatreport', 'read_chat', 'Can read the chat log', 'compliance supervisor support'),
    ('games', 'evidence', 'view_returns', 'Can view RTP and randomness', 'compliance supervisor'),
    ('games', 'incident', 'supervise_table', 'Can rule on incidents and void rounds of shared tables', 'supervisor'),
    ('games', 'incident', 'view_incident', 'Can view incident', 'compliance operator supervisor'),
    ('games', 'playreport', 'examine_play', 'Can see signs of collusion and decide collusion reports', 'compliance supervisor'),
    ('games', 'rulesversion', 'change_table', 'Can request tables and table versions', 'supervisor'),
    ('games', 'rulesversion', 'decide_table', 'Can decide requests for tables and table versions', 'compliance supervisor'),
    ('games', 'stoppolicy', 'change_stoppolicy', 'Can change stop policy', 'supervisor'),
    ('games', 'table', 'operate_table', 'Can open and close tables', 'operator supervisor'),
    ('games', 'table', 'view_table', 'Can view table', 'compliance'),
    ('players', 'accountlock', 'lock_player', 'Can lock and unlock player accounts', 'compliance support'),
    ('players', 'apitoken', 'use_tokens', 'Can create API tokens', 'compliance'),
    ('players', 'conversation', 'answer_service', 'Can answer players', 'compliance operator support'),
    ('players', 'conversation', 'decide_complaint', 'Can decide and reopen complaints', 'compliance support'),
    ('players', 'exclusion', 'exclude_player', 'Can exclude players', 'compliance support'),
    ('players', 'case', 'see_flags', 'Can see and handle markers of harm', 'compliance support'),
    ('players', 'limitchange', 'set_limits', 'Can set limits for a player', 'compliance support'),
    ('players', 'nationalrulechange', 'ask_national_rules', 'Can request changes of national rules', 'compliance'),
    ('players', 'nationalrulechange', 'decide_national_rules', 'Can decide changes of national rules', 'administrator compliance'),
    ('players', 'note', 'note_players', 'Can read and write notes about players', 'compliance finance support'),
    ('players', 'notice', 'publish_notices', 'Can publish and withdraw notices', 'operator supervisor'),
    ('players', 'player', 'view_player', 'Can view player', 'compliance finance support'),
    ('players', 'replytemplate', 'write_replies', 'Can write and withdraw reply templates', 'compliance supervisor'),
    ('players', 'staff', 'ask_staff', 'Can request changes to staff accounts', 'administrator'),
    ('players', 'staff', 'decide_staff', 'Can decide changes to staff accounts', 'administrator compliance'),
    ('players', 'staff', 'work', 'Can enter the back office', 'administrator compliance finance operator supervisor support'),
    ('players', 'submission', 'review_identity', 'Can review identity documents', 'compliance support'),
    ('wallet', 'adjustment', 'ask_adjustment', 'Can request balance adjustments', 'compliance support'),
    ('wallet', 'adjustment', 'decide_adjustment', 'Can decide balance adjustments', 'finance'),
    ('wallet', 'depositnote', 'handle_deposit', 'Can handle deposit exceptions', 'finance'),
    ('wallet', 'depositnote', 'see_deposits', 'Can view deposit exceptions', 'compliance'),
    ('wallet', 'depositnote', 'decide_deposit', 'Can decide about held deposits', 'compliance finance'),
    ('wallet', 'exchangerate', 'enter_exchange_rates', 'Can enter and import exchange rates', 'finance'),
    ('wallet', 'housestop', 'stop_house', 'Can start and end the house stop', 'supervisor'),
    ('wallet', 'journal', 'view_ledger', 'Can view the ledger', 'compliance finance'),
    ('wallet', 'partner', 'ask_partner', 'Can request partners and keys, and deactivate partners', 'finance'),
    ('wallet', 'partner', 'decide_partner', 'Can decide requests for partners and keys', 'supervisor'),
    ('wallet', 'partner', 'view_partners', 'Can view partners', 'compliance finance supervisor'),
    ('wallet', 'providerstatement', 'reconcile', 'Can import provider statements and settle differences', 'finance'),
    ('wallet', 'providerstatement', 'see_statements', 'Can view provider statements', 'compliance'),
    ('wallet', 'operatormessage', 'settle_operator_messages', 'Can settle refused operator messages', 'finance'),
    ('wallet', 'webhook', 'manage_webhooks', 'Can manage webhooks', 'administrator'),
    ('wallet', 'webhook', 'see_webhooks', 'Can view webhooks', 'compliance'),
    ('wallet', 'withdrawal', 'approve_withdrawal', 'Can approve withdrawals', 'finance supervisor'),
    ('wallet', 'withdrawal', 'see_withdrawals', 'Can view withdrawals', 'compliance'),
    ('wallet', 'withdrawal', 'release_withdrawal', 'Can release withdrawals that are held', 'compliance finance')
), content_type AS (
    INSERT INTO django_content_type (app_label, model) SELECT DISTINCT app_label, model FROM granted
    RETURNING id, app_label, model
), permission AS (
    INSERT INTO auth_permission (content_type_id, codename, name)
    SELECT content_type.id, granted.codename, granted.name
    FROM granted JOIN content_type USING (app_label, model) RETURNING id, content_type_id, codename
)
INSERT INTO auth_group_permissions (group_id, permission_id)
SELECT auth_group.id, permission.id
FROM granted
JOIN content_type USING (app_label, model)
JOIN permission ON permission.content_type_id = content_type.id AND permission.codename = granted.codename
JOIN auth_group ON auth_group.name = ANY (string_to_array(granted.roles, ' '));

-- Jurisdictions: what the law of each asks of the house. The sources are in docs/national-rules.md. Amounts are minor units.
INSERT INTO players_jurisdiction (
    code, language, currencies, minimum_age, time_zone, deposit_limits, deposit_periods, highest_month_deposit,
    raise_after_hours, raise_after_period, contact_above_month, pause_hours, pause_asks, exclusion_days, permanent_days,
    may_cancel_withdrawals, may_play_in_parallel, may_show_tables_together, complaint_days, reopen_days,
    seconds_between_games, may_hurry_results, api_clients_may_play, asks_licence, limit_reminder_days,
    identity_before_play, credit_forbidden, raise_confirmed
) VALUES
    ('SE', 'sv', '["SEK"]', 18, 'Europe/Stockholm', 'required', '["day", "week", "month"]', NULL,
     72, true, 1000000, 24, true, 30, 366, true, true, true, 14, 30, 0, true, true, false, NULL, true, true, false),
    ('DK', 'da', '["DKK"]', 18, 'Europe/Copenhagen', 'offered', '["day", "week", "month"]', NULL,
     24, false, NULL, 24, true, 30, 366, true, true, true, 14, 30, 0, true, true, false, NULL, true, false, false),
    ('RO', 'ro', '["RON"]', 18, 'Europe/Bucharest', 'offered', '["day", "week", "month"]', NULL,
     24, false, NULL, 24, true, 30, 366, true, true, true, 14, 30, 0, true, true, false, NULL, true, false, false),
    ('DE', 'de', '["EUR"]', 18, 'Europe/Berlin', 'required', '["month"]', 100000,
     168, false, NULL, 24, false, 30, 366, true, false, false, 14, 30, 0, true, true, true, NULL, true, false, false),
    ('GB', 'en', '["GBP", "EUR"]', 18, 'Europe/London', 'prompted', '["day", "week", "month"]', NULL,
     24, false, NULL, 24, true, 184, 366, false, true, false, 14, 30, 5, false, false, false, 181, true, true, true);

-- The source of each rule: R from the text of the rule, S second-hand, from summaries. A rule that is not listed is our
-- choice.
INSERT INTO players_national_rule_change (jurisdiction_id, rule, after, source)
SELECT j.code, sourced.rule, to_jsonb(j) -> sourced.rule, sourced.source
FROM (VALUES
    ('SE', 'deposit_limits', 'R'),
    ('SE', 'deposit_periods', 'R'),
    ('SE', 'raise_after_hours', 'R'),
    ('SE', 'raise_after_period', 'R'),
    ('SE', 'contact_above_month', 'R'),
    ('SE', 'pause_hours', 'S'),
    ('DK', 'deposit_limits', 'R'),
    ('DK', 'deposit_periods', 'R'),
    ('DK', 'raise_after_hours', 'R'),
    ('DK', 'pause_hours', 'R'),
    ('DK', 'exclusion_days', 'R'),
    ('DK', 'permanent_days', 'R'),
    ('DK', 'complaint_days', 'S'),
    ('DE', 'deposit_limits', 'S'),
    ('DE', 'deposit_periods', 'S'),
    ('DE', 'highest_month_deposit', 'S'),
    ('DE', 'pause_hours', 'R'),
    ('DE', 'pause_asks', 'R'),
    ('DE', 'may_play_in_parallel', 'S'),
    ('DE', 'may_show_tables_together', 'S'),
    ('DE', 'asks_licence', 'S'),
    ('GB', 'deposit_limits', 'R'),
    ('GB', 'deposit_periods', 'R'),
    ('GB', 'raise_after_hours', 'R'),
    ('GB', 'exclusion_days', 'S'),
    ('GB', 'may_cancel_withdrawals', 'R'),
    ('GB', 'may_show_tables_together', 'S'),
    ('GB', 'seconds_between_games', 'S'),
    ('GB', 'may_hurry_results', 'R'),
    ('GB', 'limit_reminder_days', 'R'),
    ('SE', 'identity_before_play', 'S'),
    ('DK', 'identity_before_play', 'R'),
    ('RO', 'identity_before_play', 'S'),
    ('DE', 'identity_before_play', 'S'),
    ('GB', 'identity_before_play', 'S'),
    ('SE', 'credit_forbidden', 'S'),
    ('GB', 'credit_forbidden', 'S'),
    ('GB', 'raise_confirmed', 'S')
) AS sourced (code, rule, source)
JOIN players_jurisdiction AS j USING (code);
