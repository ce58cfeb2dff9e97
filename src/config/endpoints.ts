/** Settings of forwarding: the endpoints that receive events as webhooks, and what is kept of deliveries. */
import * as v from 'valibot'
import {
  endpointHeaders,
  endpointName,
  endpointPace,
  endpointSecrets,
  endpointUrl,
} from './endpoint_values.ts'
import { optionalSetting, requiredSetting, setting } from './setting.ts'
import * as is from './values.ts'

export const forwarding = {
  keep_mb: setting(is.wholeNumber(16, 1_000_000), 512, {
    reason:
      'How much is kept of deliveries, in megabytes: attempts and bodies. Above it, the oldest finished deliveries are deleted first. Attempts are deleted after 90 days in any case.',
    write: 'a whole number of megabytes from 16 to 1000000',
  }),
}

const nonEmptyList = <S extends v.GenericSchema>(item: S) =>
  v.pipe(v.array(item), v.minLength(1, 'is empty: leave it out for the default'))

export const endpoint = {
  name: requiredSetting(endpointName, {
    reason:
      'The stable name of the endpoint, unique in its organization. An endpoint with another name is a new endpoint, which begins with the next event.',
    write: '1 to 40 lowercase letters, digits, dots and hyphens',
    example: '"backend"',
  }),
  organization: {
    ...optionalSetting(is.slug, {
      reason: 'The organization whose events are sent. Required when several organizations are declared.',
      write: 'the slug of a declared organization',
      example: '"acme"',
    }),
    otherwise: 'the only organization',
  },
  url: requiredSetting(endpointUrl, {
    reason:
      'Where events are sent. http, and addresses that are not public, require an entry in outbound.allow.',
    write: 'a URL without user name, password and fragment',
    example: '"https://backend.example.com/webhooks"',
  }),
  kind: setting(is.oneOf(['events', 'apple']), 'events', {
    reason: "events sends Windfall's events; apple sends Apple's notifications unchanged.",
    write: 'events or apple',
  }),
  apps: {
    ...optionalSetting(nonEmptyList(is.bundleId), {
      reason: 'Only what concerns these apps.',
      write: 'a list of bundle ids',
      example: '["com.example.app"]',
    }),
    otherwise: 'all apps of the organization',
  },
  environment: {
    ...optionalSetting(is.oneOf(['production', 'sandbox']), {
      reason: 'Only what concerns this environment.',
      write: 'production or sandbox',
      example: '"production"',
    }),
    otherwise: 'both',
  },
  types: {
    ...optionalSetting(nonEmptyList(is.eventType), {
      reason: 'Only events of these types.',
      write: 'a list of event types',
      example: '["subscription.started", "subscription.expired"]',
    }),
    otherwise:
      'every type except transaction.recorded, customer.identified, notification.test, notification.other and import.finished',
  },
  ordered: setting(v.boolean(), false, {
    reason:
      'Send the events of one subscription one after another, in the order of the feed. An event that fails delays the later ones of the same subscription.',
    write: 'true or false',
  }),
  max_per_second: {
    ...optionalSetting(endpointPace, {
      reason:
        'The most requests in a second, for a receiver that cannot take what waited after an outage, or a replay, at once. New events go first.',
      write: 'a whole number from 1 to 1000',
      example: '10',
    }),
    otherwise: 'no limit',
  },
  headers: optionalSetting(endpointHeaders, {
    reason:
      'Headers that each request contains, such as credentials, at most 10. Headers that Windfall or HTTP sets cannot be among them.',
    write: 'a table of header names and values',
    example: '{ authorization = "Bearer 123" }',
    secret: true,
  }),
  secrets: optionalSetting(endpointSecrets, {
    reason:
      'The secrets that sign requests, 1 to 3, newest first. Each request has a signature of every secret: to rotate, put the new secret first and remove the old one later. Prefer secret_file. One of the two is required.',
    write: 'a list of secrets: whsec_ followed by 24 to 64 bytes in base64',
    example: '["whsec_…"]',
    secret: true,
    file: 'secret_file',
  }),
  secret_file: optionalSetting(is.filePath, {
    reason:
      'Instead of secrets: a file that contains one secret on each line, readable only by its owner (chmod 600).',
    write: 'the path of a file',
    example: '"keys/webhook_secret"',
  }),
}
