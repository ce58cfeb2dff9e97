/** Settings of the server process: address, database, backups, log, limits, rates, metrics and jobs. */
import * as v from 'valibot'
import { optionalSetting, setting } from './setting.ts'
import * as is from './values.ts'

export const root = {
  base_url: {
    ...optionalSetting(is.baseUrl, {
      reason:
        'The URL at which Apple, your apps and your browser reach Windfall. Links and the notification URL are built from it. Requests for another host are refused.',
      write: 'http:// or https:// and a host, without a path',
      example: '"http://127.0.0.1:8787"',
    }),
    otherwise: 'http:// and the address and port of [server]',
  },
}

export const server = {
  host: setting(is.host, '127.0.0.1', {
    reason:
      'The address to listen on. Keep the default behind a reverse proxy or a tunnel on the same machine; 0.0.0.0 listens on every network.',
    write: 'an address or a host name, without a port',
    restart: true,
  }),
  port: setting(is.wholeNumber(0, 65_535), 8787, {
    reason: 'The port to listen on; 0 picks a free port.',
    write: 'a whole number from 0 to 65535',
    restart: true,
  }),
  trusted_proxies: setting(v.array(is.addressRange), ['127.0.0.0/8', '::1/128'], {
    reason:
      'The proxies whose x-forwarded-for header is trusted. The client address is the rightmost address in it that is not listed here. Add the network of your proxy if it runs on another machine.',
    write: 'a list of addresses and ranges in CIDR form',
  }),
  hosts: setting(v.array(is.host), [], {
    reason: 'Host names accepted in requests, in addition to that of base_url.',
    write: 'a list of host names without scheme or port',
    example: '["windfall.internal"]',
  }),
  insecure_http: setting(v.boolean(), false, {
    reason:
      'Allow the owner to sign in over http from other machines. The network in between can read the password and everything it protects. Prefer a proxy or a tunnel with https, and its URL as base_url.',
    write: 'true or false',
  }),
  max_connections: setting(is.wholeNumber(1, 1_000_000), 2048, {
    reason:
      'The maximum number of open connections. Above three quarters of them, new ones displace those of the client that keeps most of them without a complete request, or without taking the answer. Each open live stream holds one.',
    write: 'a whole number from 1 to 1000000',
    restart: true,
  }),
  headers_timeout_seconds: setting(is.wholeNumber(1, 600), 5, {
    reason:
      'How long a client may take to send its headers. Protects against clients that send slowly on purpose.',
    write: 'a whole number from 1 to 600',
    restart: true,
  }),
  request_timeout_seconds: setting(is.wholeNumber(1, 600), 10, {
    reason: 'How long a client may take to send its headers and body.',
    write: 'a whole number from 1 to 600, not below headers_timeout_seconds',
    restart: true,
  }),
  keep_alive_seconds: setting(is.wholeNumber(1, 600), 5, {
    reason:
      'How long an idle connection stays open. A value above the idle timeout of your proxy avoids occasional 502 responses.',
    write: 'a whole number from 1 to 600',
    restart: true,
  }),
  shutdown_seconds: setting(is.wholeNumber(1, 600), 10, {
    reason: 'How long running requests may take to finish when Windfall stops.',
    write: 'a whole number from 1 to 600',
    restart: true,
  }),
}

export const store = {
  path: setting(is.filePath, './data/windfall.db', {
    reason:
      'The database file, which holds all data. Relative to the folder of the config file, or to the working directory if there is no config file.',
    write: 'the path of a file',
    restart: true,
  }),
  native_dir: optionalSetting(is.filePath, {
    reason:
      'The folder for SQLite’s native addon, which the executable writes once. It must permit executable files. By default, the folder native beside the database, or the one that windfall install wrote.',
    write: 'the path of a folder',
    example: '"/usr/local/lib/windfall"',
    restart: true,
  }),
}

export const log = {
  level: setting(is.oneOf(['debug', 'info', 'warn', 'error']), 'info', {
    reason: 'The minimum level of the lines that are written.',
    write: 'debug, info, warn or error',
  }),
  format: setting(is.oneOf(['pretty', 'json', 'auto']), 'auto', {
    reason:
      'pretty is text for people, json is one object per line; auto is pretty on a terminal and json elsewhere.',
    write: 'pretty, json or auto',
    restart: true,
  }),
}

export const sign_in = {
  idle_days: setting(is.wholeNumber(1, 365), 14, {
    reason: 'After how many days without use a session of the owner or a guest ends.',
    write: 'a whole number from 1 to 365',
  }),
  longest_days: setting(is.wholeNumber(1, 365), 90, {
    reason: 'After how many days a session ends, even if it is in use.',
    write: 'a whole number from 1 to 365',
  }),
}

export const limits = {
  sdk_requests_per_minute: setting(is.wholeNumber(1, 1_000_000), 240, {
    reason:
      'The maximum number of identify and attribute calls for one organization within 60 seconds, shared fairly among the client addresses.',
    write: 'a whole number from 1 to 1000000',
  }),
  anonymous_requests_per_minute: setting(is.wholeNumber(1, 1_000_000), 60, {
    reason:
      'The maximum number of calls within 60 seconds from one client address (IPv6: one /64) that belong to no known organization. Slows down the guessing of keys.',
    write: 'a whole number from 1 to 1000000',
  }),
  sdk_body_bytes: setting(is.wholeNumber(1024, 16_777_216), 65_536, {
    reason:
      'The maximum size of the body of an identify or attribute call. A signed transaction has about 10,000 bytes.',
    write: 'a whole number from 1024 to 16777216',
  }),
  apple_body_bytes: setting(is.wholeNumber(65_536, 67_108_864), 1_048_576, {
    reason: 'The maximum size of a notification from Apple. A typical notification has about 25,000 bytes.',
    write: 'a whole number from 65536 to 67108864',
  }),
  attributes_per_user: setting(is.wholeNumber(1, 1000), 100, {
    reason:
      'The maximum number of attributes of one user. Attributes set with the secret key are counted separately, up to the same number.',
    write: 'a whole number from 1 to 1000',
  }),
}

export const users = {
  prune_after_days: setting(is.wholeNumber(0, 36_500), 0, {
    reason:
      'Deletes users that no secret key ever named, that have no purchase, and that made no identify call for this many days. 0 deletes none; `windfall users prune` deletes them by hand.',
    write: 'a whole number from 0 to 36500',
  }),
  name_attribute: setting(is.shortText, 'name', {
    reason:
      'The attribute of identify calls that names a user. The dashboard shows its value instead of the user id, and the search finds it.',
    write: 'the name of an attribute',
  }),
}

export const apple = {
  revocation_checks: setting(v.boolean(), false, {
    reason:
      "Also check with Apple's OCSP responder whether its signing certificates were revoked. Requires access to ocsp.apple.com; if the check fails, nothing is refused because of it.",
    write: 'true or false',
    restart: true,
  }),
  icons: setting(v.boolean(), true, {
    reason:
      "Fetch the icons of your apps from Apple's public lookup, which gets the ids of the apps. If false, the dashboard shows the first letter of the name.",
    write: 'true or false',
  }),
}

export const rates = {
  fetch: setting(v.boolean(), true, {
    reason:
      'Fetch daily exchange rates from Frankfurter, fawazahmed0 and the European Central Bank. No data is sent to them. If false, amounts in other currencies are shown as not converted, unless `windfall rates import` imports rates.',
    write: 'true or false',
  }),
}

export const metrics = {
  factors: setting(is.oneOf(['calendar', 'revenuecat']), 'calendar', {
    reason:
      'The length of a month for prices per day or week: calendar is 30.4375 days, revenuecat is 30 days or 4 weeks. A change recomputes all metrics.',
    write: 'calendar or revenuecat',
    restart: true,
  }),
  commission_percent: setting(is.wholeNumber(0, 100), 30, {
    reason:
      "Apple's commission, for the proceeds of charges that are in no report yet. Such proceeds are marked as estimated.",
    write: 'a whole number from 0 to 100',
  }),
  commission_after_a_year_percent: setting(is.wholeNumber(0, 100), 15, {
    reason: "Apple's commission after a subscription has been paid for a year.",
    write: 'a whole number from 0 to 100',
  }),
  small_business: setting(v.boolean(), false, {
    reason: "Whether you are in Apple's Small Business Program, with a commission of at most 15%.",
    write: 'true or false',
  }),
  wait_ms: setting(is.wholeNumber(0, 10_000), 50, {
    reason:
      'How long a metrics request waits for a few figures that are behind, in milliseconds. After that, the response says that they are behind.',
    write: 'a whole number of milliseconds from 0 to 10000',
  }),
  token: optionalSetting(is.metricsToken, {
    reason: 'A token for /internal/metrics, in addition to read tokens. Prefer token_file.',
    write: 'at least 16 characters without spaces',
    example: '"…"',
    secret: true,
  }),
  token_file: optionalSetting(is.filePath, {
    reason: 'Instead of token: a file that contains it, readable only by its owner (chmod 600).',
    write: 'the path of a file',
    example: '"/etc/windfall/metrics_token"',
  }),
  listen: optionalSetting(is.listenAddress, {
    reason:
      'An address and a port of their own for /internal/metrics, which then needs no token there. Use a loopback or private address.',
    write: 'an address and a port',
    example: '"127.0.0.1:9187"',
    restart: true,
  }),
}

const schedule = (fallback: string, reason: string) =>
  setting(is.schedule, fallback, { reason, write: 'a cron pattern of five fields, or "off"' })

export const jobs = {
  import: schedule('13 * * * *', 'Fetch missing sales reports and refresh the list of apps.'),
  backfill: schedule(
    '*/5 * * * *',
    'Read the history of a new app, as far back as Apple provides it. Does nothing once that is done.',
  ),
  reconcile: schedule(
    '*/15 * * * *',
    'Fetch notifications that did not arrive. A gap lasts at most as long as the time between two runs.',
  ),
  lookups: schedule('*/5 * * * *', 'Look up purchases that your apps reported but no notification did.'),
  annotations: schedule(
    '40 7 * * *',
    'Read app versions and subscription prices from Apple, and annotate the charts with what is new.',
  ),
  rates: schedule(
    '25 5,17 * * *',
    'Fetch the exchange rates of past days. Central banks publish once a day, some a day late.',
  ),
  housekeeping: schedule(
    '17 * * * *',
    'Delete expired rows, update the table statistics, and once a day delete the users that prune_after_days selects.',
  ),
  checks: schedule(
    '50 4 * * *',
    'Run the checks of `windfall doctor` and store the results, which the dashboard shows. The first run is at the first start.',
  ),
  jitter_percent: setting(is.wholeNumber(0, 50), 5, {
    reason:
      "Delays each run by a random time of up to this share of the interval, to spread the load on Apple's servers.",
    write: 'a whole number from 0 to 50',
  }),
}
