/** What may be written: the settings of this process: its address, its file, its log, its limits. */
import * as v from 'valibot'
import { optionalSetting, setting } from './setting.ts'
import * as is from './values.ts'

export const root = {
  base_url: {
    ...optionalSetting(is.baseUrl, {
      reason:
        'Where Apple, your apps and your browser reach Windfall. Every link and the notification URL are built from it, and requests for another host are refused.',
      write: 'http:// or https:// and a host, without a path',
      example: '"http://127.0.0.1:8787"',
    }),
    otherwise: 'http:// and the address and port of [server]',
  },
}

export const server = {
  host: setting(is.host, '127.0.0.1', {
    reason:
      'The address to listen on. Leave it behind a reverse proxy or a tunnel on the same machine; 0.0.0.0 listens on every network.',
    write: 'an address or a host name, without a port',
    restart: true,
  }),
  port: setting(is.wholeNumber(0, 65_535), 8787, {
    reason: 'The port to listen on; 0 takes any free one.',
    write: 'a whole number from 0 to 65535',
    restart: true,
  }),
  trusted_proxies: setting(v.array(is.addressRange), ['127.0.0.0/8', '::1/128'], {
    reason:
      "The proxies whose x-forwarded-for is believed; a caller's address is the rightmost one that is not in here. Add your proxy's network if it runs on another machine.",
    write: 'a list of addresses and ranges in CIDR form',
  }),
  hosts: setting(v.array(is.host), [], {
    reason: 'Host names that requests may be for besides that of base_url.',
    write: 'a list of host names without scheme or port',
    example: '["windfall.internal"]',
  }),
  insecure_http: setting(v.boolean(), false, {
    reason:
      'Let the owner sign in over http from other machines, where everybody on the way can read the password and what it opens. Better: a proxy or a tunnel with https, and its address as base_url.',
    write: 'true or false',
  }),
  max_connections: setting(is.wholeNumber(1, 1_000_000), 2048, {
    reason:
      'Connections held open at once; more are turned away. Each open feed is one, and a thousand of them leave room for ingest.',
    write: 'a whole number from 1 to 1000000',
    restart: true,
  }),
  headers_timeout_seconds: setting(is.wholeNumber(1, 600), 5, {
    reason: 'How long a caller may take to send its headers. Cuts off those who send slowly on purpose.',
    write: 'a whole number from 1 to 600',
    restart: true,
  }),
  request_timeout_seconds: setting(is.wholeNumber(1, 600), 10, {
    reason: 'How long a caller may take to send its headers and body.',
    write: 'a whole number from 1 to 600, not below headers_timeout_seconds',
    restart: true,
  }),
  keep_alive_seconds: setting(is.wholeNumber(1, 600), 5, {
    reason: "How long an idle connection is kept. Longer than your proxy's own time avoids its rare 502s.",
    write: 'a whole number from 1 to 600',
    restart: true,
  }),
  shutdown_seconds: setting(is.wholeNumber(1, 600), 10, {
    reason: 'How long requests under way may take to finish when Windfall is asked to stop.',
    write: 'a whole number from 1 to 600',
    restart: true,
  }),
}

export const store = {
  path: setting(is.filePath, './data/windfall.db', {
    reason:
      'The database file: all that Windfall knows. Relative to the folder of the config file, or where none is used, to the one Windfall was started in.',
    write: 'the path of a file',
    restart: true,
  }),
}

export const backup = {
  schedule: setting(is.schedule, 'off', {
    reason:
      'When a backup is made by itself: a cron pattern of five fields in UTC, as in "30 3 * * *", or "off".',
    write: 'a cron pattern of five fields, or "off"',
  }),
  folder: setting(is.filePath, './backups', {
    reason:
      'Where scheduled backups go. Relative to the folder of the config file. Copy them to another machine: a disk that fails takes both.',
    write: 'the path of a folder',
  }),
  recipients: setting(v.array(is.ageRecipient), [], {
    reason:
      'For whom backups are encrypted, in the age format: public keys that `age-keygen` prints. The identities that open them stay on your own machine. Without recipients backups are not encrypted, and hold your keys.',
    write: 'a list of age recipients',
  }),
  daily: setting(is.wholeNumber(0, 366), 7, {
    reason: 'Of how many days the newest backup is kept.',
    write: 'a whole number from 0 to 366',
  }),
  weekly: setting(is.wholeNumber(0, 520), 4, {
    reason: 'Of how many weeks.',
    write: 'a whole number from 0 to 520',
  }),
  monthly: setting(is.wholeNumber(0, 120), 12, {
    reason: 'Of how many months. The newest backup of all is never deleted.',
    write: 'a whole number from 0 to 120',
  }),
}

export const log = {
  level: setting(is.oneOf(['debug', 'info', 'warn', 'error']), 'info', {
    reason: 'The least important kind of line to write.',
    write: 'debug, info, warn or error',
  }),
  format: setting(is.oneOf(['pretty', 'json', 'auto']), 'auto', {
    reason: 'pretty for people, json for machines; auto is pretty on a terminal and json elsewhere.',
    write: 'pretty, json or auto',
    restart: true,
  }),
}

export const sign_in = {
  idle_days: setting(is.wholeNumber(1, 365), 14, {
    reason: 'After how many days without use the owner or a guest has to sign in again.',
    write: 'a whole number from 1 to 365',
  }),
  longest_days: setting(is.wholeNumber(1, 365), 90, {
    reason: 'After how many days they have to in any case.',
    write: 'a whole number from 1 to 365',
  }),
}

export const limits = {
  sdk_requests_per_minute: setting(is.wholeNumber(1, 1_000_000), 240, {
    reason:
      'Calls to identify and attribute that one organization may make within any 60 seconds, shared fairly among the addresses that call.',
    write: 'a whole number from 1 to 1000000',
  }),
  anonymous_requests_per_minute: setting(is.wholeNumber(1, 1_000_000), 60, {
    reason:
      'The same for one client address (IPv6: one /64) whose calls belong to no organization we know, so that guessing is slow.',
    write: 'a whole number from 1 to 1000000',
  }),
  sdk_body_bytes: setting(is.wholeNumber(1024, 16_777_216), 65_536, {
    reason: 'The largest body of an identify or attribute call; a signed transaction has about 10,000 bytes.',
    write: 'a whole number from 1024 to 16777216',
  }),
  apple_body_bytes: setting(is.wholeNumber(65_536, 67_108_864), 1_048_576, {
    reason: 'The largest notification taken from Apple, whose own have about 25,000 bytes.',
    write: 'a whole number from 65536 to 67108864',
  }),
  attributes_per_user: setting(is.wholeNumber(1, 1000), 100, {
    reason:
      'How many attributes one user may have after merging; those that calls with the secret key wrote count apart, up to as many again.',
    write: 'a whole number from 1 to 1000',
  }),
}

export const users = {
  prune_after_days: setting(is.wholeNumber(0, 36_500), 0, {
    reason:
      'Deletes users that were only ever claimed (no secret key and no attested device ever named them), have no purchase, and made no identify call for this many days. 0 deletes none; `windfall users prune` does it by hand.',
    write: 'a whole number from 0 to 36500',
  }),
}

export const apple = {
  revocation_checks: setting(v.boolean(), false, {
    reason:
      "Also ask Apple's OCSP responder whether its signing certificates were revoked. Needs the way out to ocsp.apple.com; when that fails, nothing is refused for it.",
    write: 'true or false',
    restart: true,
  }),
}

export const rates = {
  fetch: setting(v.boolean(), true, {
    reason:
      'Ask Frankfurter, fawazahmed0 and the European Central Bank for daily exchange rates. Nothing is told to them. Without, amounts in other currencies are shown as not converted, or `windfall rates import` brings the rates.',
    write: 'true or false',
  }),
}

export const metrics = {
  factors: setting(is.oneOf(['calendar', 'revenuecat']), 'calendar', {
    reason:
      'How long a month is for prices by the day or week: 30.4375 days, or as RevenueCat counts, 30 days and 4 weeks. Another value recomputes all metrics.',
    write: 'calendar or revenuecat',
    restart: true,
  }),
  commission_percent: setting(is.wholeNumber(0, 100), 30, {
    reason:
      'What Apple keeps of a price, for proceeds of charges that no report tells of. Such proceeds are marked as estimated.',
    write: 'a whole number from 0 to 100',
  }),
  commission_after_a_year_percent: setting(is.wholeNumber(0, 100), 15, {
    reason: 'The same once a subscription has been paid for a year.',
    write: 'a whole number from 0 to 100',
  }),
  small_business: setting(v.boolean(), false, {
    reason: "Whether you are in Apple's Small Business Program: then Apple keeps 15 % at most.",
    write: 'true or false',
  }),
  wait_ms: setting(is.wholeNumber(0, 10_000), 50, {
    reason:
      'How long a question about metrics waits for figures that are behind the facts, in milliseconds, where few are. Then it is answered, and says so.',
    write: 'a whole number of milliseconds from 0 to 10000',
  }),
}

const schedule = (fallback: string, reason: string) =>
  setting(is.schedule, fallback, { reason, write: 'a cron pattern of five fields, or "off"' })

export const jobs = {
  import: schedule('13 * * * *', "Fetch Apple's sales reports that are missing, and list the apps anew."),
  backfill: schedule(
    '*/5 * * * *',
    'Read all that Apple still shows of the past of an app that is new. Once that is done there is nothing to do.',
  ),
  reconcile: schedule(
    '*/15 * * * *',
    'Ask Apple for notifications that did not arrive. The time between two runs is how long a gap lasts at most.',
  ),
  lookups: schedule(
    '*/5 * * * *',
    'Ask Apple about purchases that your apps told of and no notification has.',
  ),
  rates: schedule(
    '25 5,17 * * *',
    'Fetch the exchange rates of days that are over. Central banks publish once a day, and some a day late.',
  ),
  housekeeping: schedule(
    '17 * * * *',
    'Drop what has waited too long, once a day the users that prune_after_days names, and keep the statistics of the tables up.',
  ),
  jitter_percent: setting(is.wholeNumber(0, 50), 5, {
    reason:
      'Chance moves each run by up to this share of the time to the next, so that not all the world asks Apple in the same second.',
    write: 'a whole number from 0 to 50',
  }),
}
