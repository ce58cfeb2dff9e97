/** Settings of alerts: the heartbeat, and the channels and rules that config.toml declares. */
import * as v from 'valibot'
import { endpointUrl } from './endpoint_values.ts'
import { optionalSetting, requiredSetting, setting } from './setting.ts'
import * as is from './values.ts'

const name = v.pipe(
  v.string(),
  v.regex(/^\S(.{0,58}\S)?$/u, 'is not a name of 1 to 60 characters without spaces at its ends'),
)
const word = v.pipe(v.string(), v.regex(/^[a-z_]{1,40}$/, 'is not a word of lowercase letters'))
/** What is in such a table depends on the kind or the template, which are checked after the file was read. */
const fields = v.record(v.string(), v.unknown())

const organization = {
  ...optionalSetting(is.slug, {
    reason: 'The organization. Required when several organizations are declared.',
    write: 'the slug of a declared organization',
    example: '"acme"',
  }),
  otherwise: 'the only organization',
}

export const alerts = {
  contact: optionalSetting(is.emailAddress, {
    reason:
      'An e-mail address that push services may write to. Devices with Web Push need it, or a base_url with https.',
    write: 'an e-mail address',
    example: '"you@example.com"',
  }),
  heartbeat_url: optionalSetting(endpointUrl, {
    reason:
      'Windfall sends GET to this URL every five minutes, so that a monitoring service notices when Windfall itself is down. Such a URL is a secret of the service.',
    write: 'the URL of a check',
    example: '"https://hc-ping.com/12345678-1234-1234-1234-123456789012"',
    secret: true,
  }),
  heartbeat_url_file: optionalSetting(is.filePath, {
    reason: 'Instead of heartbeat_url: a file that contains it, readable only by its owner (chmod 600).',
    write: 'the path of a file',
    example: '"keys/heartbeat"',
  }),
}

export const alertChannel = {
  name: requiredSetting(name, {
    reason: 'The name of the channel, unique in its organization. Rules name it.',
    write: 'a name of 1 to 60 characters',
    example: '"phone"',
  }),
  organization,
  kind: requiredSetting(word, {
    reason:
      'ntfy, telegram, slack, discord, mattermost, teams, google_chat, pushover, gotify, email or json. docs/alerts.md has the settings of each.',
    write: 'the kind of the channel',
    example: '"ntfy"',
  }),
  settings: optionalSetting(fields, {
    reason: 'What the kind needs, without secrets.',
    write: 'a table',
    example: '{ topic = "windfall-4f1c" }',
    // The topic of ntfy is as good as a password, and an address is personal.
    secret: true,
  }),
  secrets: optionalSetting(fields, {
    reason: 'The tokens, passwords and secret URLs of the kind. Prefer secrets_file.',
    write: 'a table',
    example: '{ token = "tk_…" }',
    secret: true,
    file: 'secrets_file',
  }),
  secrets_file: optionalSetting(is.filePath, {
    reason:
      'Instead of secrets: a TOML file with one line for each secret, such as token = "tk_…", readable only by its owner (chmod 600).',
    write: 'the path of a file',
    example: '"keys/phone.toml"',
  }),
  hides_amounts: setting(v.boolean(), false, {
    reason: 'Whether messages of this channel have no amounts.',
    write: 'true or false',
  }),
  digests: setting(v.array(is.oneOf(['daily', 'weekly'])), [], {
    reason: 'The digests that this channel gets.',
    write: 'a list of daily and weekly',
    example: '["daily", "weekly"]',
  }),
}

export const alertRule = {
  name: requiredSetting(name, {
    reason: 'The name of the rule, unique in its organization.',
    write: 'a name of 1 to 60 characters',
    example: '"Every sale"',
  }),
  organization,
  template: requiredSetting(word, {
    reason:
      'sale, new_subscriber, trial, refund, big_sale, first_in_country, no_sale, milestone, record_day, refund_spike, billing_failure, cancellation or trouble.',
    write: 'a template',
    example: '"sale"',
  }),
  settings: optionalSetting(fields, {
    reason:
      'Filters and limits; docs/alerts.md lists them. Those that are left out have the defaults of the template. Apps are bundle ids.',
    write: 'a table',
    example: '{ apps = ["com.example.app"], minimum_milli = 50000, per_hour = 10 }',
  }),
  channels: {
    ...optionalSetting(v.pipe(v.array(name), v.minLength(1, 'is empty: leave it out for all channels')), {
      reason: 'The names of declared channels.',
      write: 'a list of names',
      example: '["phone"]',
    }),
    otherwise: 'all channels of the organization',
  },
  on: setting(v.boolean(), true, { reason: 'Whether the rule is followed.', write: 'true or false' }),
}
