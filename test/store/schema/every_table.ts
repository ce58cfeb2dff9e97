/** A small business with rows in every kept table. The database fixture of a release is made from it. */
import Database from 'better-sqlite3'
import { BUNDLE, dataBody, outerPayload } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { type Late, openLate } from '../../metrics/reports/late_connection.ts'
import { addOutgoing, OUTGOING_STATES, placeSealingKey } from './outgoing_rows.ts'

const DAY = 86_400_000

/** The instant at which the database is created and at which later versions open it. */
export const MADE_AT = Date.UTC(2026, 2, 1, 17, 30)

/** The configuration with which the database is created and opened. */
export const ENVIRONMENT = {
  WINDFALL_ORGANIZATIONS: '[{ slug = "default", name = "Default", time_zone = "America/Los_Angeles" }]',
}

/** Rows that so short a history does not produce. The last two are pending work, which the next start completes. */
const BY_HAND = `
  insert into disk_samples (sampled_on, sampled_at, database_bytes, free_bytes) values ('2026-02-01', 1769900000000, 4096, 1000000000);
  insert into disk_faults (kind, code, times, first_at, last_at) values ('io_error', 'SQLITE_IOERR_WRITE', 1, 1772300000000, 1772300000000);
  insert into refunds (app_id, environment, transaction_id, revoked_at, revocation_type, revocation_percentage, signed_at, sha256)
    select app_id, environment, transaction_id, purchased_at, 'REFUND_FULL', null, signed_at, x'00' from transactions limit 1;
  insert into refund_reversals (app_id, environment, transaction_id, reversed_at)
    select app_id, environment, transaction_id, revoked_at + 1 from refunds;
  insert into gaps (id, app_id, environment, first_signed_at, last_signed_at, notifications, recovered, found_at, filled_at)
    select 'gap_1', id, 'production', 1771000000000, 1771000000000, 1, 1, 1771000000000, 1771000000000 from apps limit 1;
  insert into refused_calls (refused_on, bundle_id, platform, code, calls, example, last_at)
    values ('2026-03-01', '', '', 'invalid_request', 1, null, 1772300000000);
  insert into link_history (link_id, from_app_user_id, to_app_user_id, from_proofs, to_proofs, from_credential, to_credential, moved_at)
    select id, null, app_user_id, proofs, proofs, credential, credential, updated_at from links limit 1;
  insert into reported_lengths (app_id, number, offer, period, day) select id, '1', '', 'P1M', 20500 from apps limit 1;
  insert into metric_due (generation, lineage_id, rank, since)
    select metric_generations.id, metric_lineages.id, 0, 0 from metric_generations, metric_lineages limit 1;
  insert into metric_tasks (what, subject, from_day, cursor) select 'period', id, 0, 0 from apps limit 1;
  insert into link_imports (id, file_name, rows_done, linked, moved, unchanged, refused, started_at, finished_at)
    values ('00', 'links.csv', 1, 1, 0, 0, 0, 1772300000000, 1772300000000);
  insert into change_marks (at, change) values (1772300000000, 1);
  insert into endpoints (id, organization_id, name, kind, url, is_ordered, max_per_second, header_names, source, state, reason, state_since, cursor, failures, probes, down_ms, created_at)
    select 'whe_1', id, 'backend', 'events', 'https://backend.example/hooks', 0, 5, '[]', 'dashboard', 'disabled', 'secret_unreadable', 1772300000000, 1, 0, 0, 0, 1772300000000 from organizations;
  insert into endpoint_secrets (id, endpoint_id, sealed, created_at) values ('whs_1', 'whe_1', 'v1.x', 1772300000000);
  insert into replays (id, endpoint_id, source, filter, first, cursor, until, made, state, asked_by, created_at, finished_at)
    values ('rep_1', 'whe_1', 'feed', '{}', 0, 1, 1, 1, 'done', 'owner', 1772300000000, 1772300000000);
  insert into deliveries (endpoint_id, replay_id, event_id, seq, type, is_test, is_remade, state, attempts, failures, occurred_at, created_at, finished_at)
    values ('whe_1', 'rep_1', 'evt_1', 1, 'gap.found', 0, 0, 'delivered', 1, 0, 1772300000000, 1772300000000, 1772300000000);
  insert into delivery_attempts (delivery_id, number, endpoint_id, at, ms, kind, status, words, is_probe)
    values (1, 1, 'whe_1', 1772300000000, 5, 'delivered', 200, 'The receiver answered 200.', 0);
  insert into unannounced_losses (endpoint_id, count, first_event_id, last_event_id, reason, since, last_at)
    values ('whe_1', 2, 'evt_1', 'evt_2', 'All 10 attempts failed.', 1772300000000, 1772300000000);
  insert into apple_keys (organization_id, kind, key_id, issuer_id, sealed, vendor_numbers, stored_at)
    select id, 'connect', 'ABCDE12345', null, 'v1.x', '[]', 1772300000000 from organizations;
  insert into alert_channels (id, organization_id, name, kind, settings, hides_amounts, digests, source, state, state_since, created_at)
    select 'alc_1', id, 'phone', 'ntfy', '{}', 0, '[]', 'dashboard', 'active', 1772300000000, 1772300000000 from organizations;
  insert into alert_rules (id, organization_id, name, template, settings, is_on, source, cursor, created_at)
    select 'alr_1', id, 'Sales abroad', 'sale', '{}', 1, 'dashboard', 1, 1772300000000 from organizations;
  insert into alert_memory (organization_id, rule_id, key, value, at) select id, 'alr_1', 'mrr', '1000', 1772300000000 from organizations;
  insert into alert_messages (id, organization_id, rule_id, kind, key, content, happened_at, created_at)
    select 'alm_1', id, 'alr_1', 'sale', 'k', '{}', 1772300000000, 1772300000000 from organizations;
  insert into alert_sends (message_id, channel_id, state, attempts) values ('alm_1', 'alc_1', 'sent', 1);
  insert into alert_digests (channel_id, kind, digested_on, made_at) values ('alc_1', 'daily', '2026-03-01', 1772300000000);
  insert into devices (id, app_id, key_id, public_key, app_identifier, environment, details, receipt, counter, token_hash, enrolled_at, used_on)
    select 'dev_1', id, 'a2V5', x'04', 'A1B2C3D4E5.com.example.app', 'production', '{}', x'30', 0, x'01', 1772300000000, '2026-02-28' from apps limit 1;
  insert into annotations (id, organization_id, app_id, annotated_on, text, source, created_at, updated_at)
    select 'ann_1', id, null, '2026-02-27', 'Launch', 'owner', 1772300000000, 1772300000000 from organizations;
  insert into annotation_reads (app_id, what, read_at, refused) select id, 'versions', 1772300000000, null from apps limit 1;
  insert into authenticator (id, sealed, last_step, created_at) values (1, 'v1.x', 59000000, 1772300000000);
  insert into recovery_codes (hash) values (x'01');
  insert into passkeys (id, credential_id, public_key, host, name, transports, is_synced, counter, created_at)
    values ('psk_1', 'Y3JlZA', x'a0', 'localhost', 'Mac', '[]', 0, 0, 1772300000000);
  insert into used_challenges (hash, attestation_hash, used_at) values (x'01', x'02', 1772300000000);
  insert into device_users (device_id, app_user_id, first_on, last_on) values ('dev_1', 'user-1', '2026-02-28', '2026-02-28');
  insert into call_counts (counted_on, app_id, endpoint, credential, assertion, verification, unattested, calls)
    select '2026-02-28', id, 'identify', 'none', 'none', 'unverified', '', 1 from apps limit 1;
  insert into widget_tokens (id, organization_id, kind, label, hash, metrics, created_at)
  select 'wdg_1', id, 'widget', 'phone', x'01', '["mrr"]', 1772300000000 from organizations limit 1`

/** Simulates the business and returns the path of a copy of its database. */
export async function playEveryTable(): Promise<string> {
  const shop = await openLate({
    subscribers: 12,
    seed: 3,
    from: MADE_AT - 30 * DAY,
    connected: MADE_AT - 10 * DAY,
    with_purchases: true,
    is_plain: true,
  })
  const { windfall } = shop
  placeSealingKey(windfall.store.file)
  await shop.live(MADE_AT)
  await windfall.catalogue.refreshAll()
  for (const job of ['backfill', 'reconcile', 'lookups']) await windfall.jobs.runNow(job)
  await windfall.imports.run({ days: 6 })
  await callEverything(shop)
  await addOutgoing(shop)
  await windfall.reported.settled()
  await windfall.metrics.whenCurrent()
  const file = `${temporaryFolder().path}/windfall.db`
  await windfall.store.copy(file)
  const db = new Database(file)
  db.exec(BY_HAND)
  db.exec(OUTGOING_STATES)
  db.close()
  return file
}

/** Calls of the owner and of client apps: tokens, a password, a share link, an erasure, and refused calls. */
async function callEverything({ windfall, apps, ...app }: Late): Promise<void> {
  await app.token()
  await windfall.store.commit(() => windfall.owner.setPassword('none'))
  await app.post('/api/v1/share-links', { label: 'bank', basis: 'gross' }, await app.signIn())
  await app.post('/api/sdk/v1/identify', {})
  await app.post('/apple/notifications', { signedPayload: 'a.b.c' })
  await app.notify(outerPayload(dataBody({ bundleId: `${BUNDLE}.unknown` })))
  const bundleId = apps[0]?.bundle_id ?? ''
  await app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId })
  const authorization = `Bearer ${await app.key('secret')}`
  await app.request(`/api/v1/users/ann?app=${bundleId}`, { method: 'DELETE', headers: { authorization } })
}
