/** Checks of the base URL: what browsers and proxies send, whether this server answers there, and the certificate. */

import { examinePasskeys } from '../../access/passkeys/host_change.ts'
import { dayOfUtc } from '../../days.ts'
import type { ProbeArrival, SeenRequests } from '../../http/admission/seen.ts'
import { isLoopback } from '../../http/hosts.ts'
import { startOfServer } from '../../systemd/starting.ts'
import { errorText } from '../apple/reach.ts'
import { type DoctorContext, NO_DATABASE, NO_SERVER } from '../context.ts'
import { certificateAt, type OwnAddress, requestOwnAddress, whoAnswers } from '../own_address.ts'
import { error, type Outcome, ok, skipped, warning } from '../result.ts'

const DAY_MS = 86_400_000

/** The base URL, compared with a request to itself and with the addresses that browsers use. */
export async function checkAddress({ config, serving }: DoctorContext): Promise<Outcome[]> {
  const base_url = serving?.base_url ?? config.base_url
  const https = httpsOutcome(base_url)
  if (serving === null) return [https, await otherOutcome(base_url)]
  const own = await requestOwnAddress(base_url, serving.seen)
  return [https, requestOutcome(base_url, own), browserOutcome(base_url, serving.seen)]
}

/** Who answers at the base URL while the server of this database does not run. */
async function otherOutcome(base_url: string): Promise<Outcome> {
  const details = { subject: 'request' }
  const answering = await whoAnswers(base_url)
  if (answering.problem !== null)
    return skipped(`${NO_SERVER} ${base_url} does not answer: ${answering.problem}.`, START, details)
  const { status, isWindfall } = answering
  if (isWindfall)
    return warning(
      `${NO_SERVER} At ${base_url} a Windfall answers that uses another database, or runs elsewhere.`,
      'To check that one, run this command where it runs, in its folder or with its config file: `windfall doctor --config FILE`.',
      details,
    )
  // A proxy whose server does not run.
  if (status >= 500) return skipped(`${NO_SERVER} ${base_url} answers with status ${status}.`, START, details)
  return warning(
    `${NO_SERVER} At ${base_url} another program answers, with status ${status}.`,
    'Stop that program, or set `base_url` and `server.port` to an address of Windfall’s own.',
    details,
  )
}

const START = `Start it: \`${startOfServer()}\`.`

function httpsOutcome(base_url: string): Outcome {
  const details = { subject: 'notifications', title: 'Notification URL' }
  const url = `${base_url}/apple/notifications`
  if (base_url.startsWith('https:')) return ok(`${url}.`, details)
  return warning(
    `${url}: Apple requires HTTPS.`,
    'Put a proxy or a tunnel in front of Windfall, and set `base_url` to its address.',
    details,
  )
}

/** The outcome of a request to the base URL. */
function requestOutcome(base_url: string, own: OwnAddress): Outcome {
  const details = { subject: 'request' }
  if (own.problem !== null)
    return warning(
      `This machine cannot reach ${base_url}: ${own.problem}.`,
      'Check the DNS entry, the proxy and the firewall. Behind a router the address may be reachable only from outside: open it in a browser.',
      details,
    )
  const { status, location, arrival, ms } = own
  if (location !== null)
    return error(
      `${base_url} redirects to ${location}. Apple does not follow redirects.`,
      'Set `base_url` to the address that answers itself.',
      details,
    )
  if (arrival === null)
    return error(
      `${base_url} answers with status ${status}, but the request did not reach this server.`,
      'Point the proxy or the DNS entry at this server, or correct `base_url`.',
      details,
    )
  return hostOutcome(base_url, arrival, Math.round(ms))
}

function hostOutcome(base_url: string, { host, forwarded_proto }: ProbeArrival, ms: number): Outcome {
  const details = { subject: 'request' }
  const wanted = new URL(base_url)
  const detail = `A request to ${base_url} reaches this server in ${ms} ms`
  if (host?.toLowerCase().replace(/:\d+$/, '') !== wanted.hostname)
    return warning(
      `${detail}, but with the host ${host ?? '(none)'}.`,
      'Let the proxy send the host unchanged. In nginx: `proxy_set_header Host $host;`',
      details,
    )
  const isOtherScheme = forwarded_proto !== null && `${forwarded_proto}:` !== wanted.protocol
  if (!isOtherScheme) return ok(`${detail}.`, details)
  const remedy = 'Correct `base_url`, or let the proxy send X-Forwarded-Proto of the client’s connection.'
  return warning(`${detail}, but the proxy reports the scheme ${forwarded_proto}.`, remedy, details)
}

function browserOutcome(base_url: string, seen: SeenRequests): Outcome {
  const details = { subject: 'browsers', title: 'Addresses in browsers' }
  const own = new URL(base_url).origin
  const others = seen.browserOrigins().filter(({ value }) => value !== own && !isLoopbackOrigin(value))
  const refused = seen.refusedHosts()
  const texts = [
    ...others.map(({ value, requests }) => `${timesText(requests)} from ${value}`),
    ...refused.map(({ value, requests }) => `${timesText(requests)} for the host ${value}, refused with 421`),
  ]
  if (texts.length > 0)
    return warning(
      `There were requests for other addresses than ${base_url}.`,
      'If one of these is your address, set `base_url` to it, or add the host to `server.hosts`. Any client can invent a host.',
      { ...details, quote: `${texts.slice(0, 5).join('; ')}.` },
    )
  if (seen.browserOrigins().length === 0)
    return ok('No browser has sent its address since the server started.', details)
  return ok(`Browsers use ${own}.`, details)
}

const isLoopbackOrigin = (origin: string): boolean => URL.canParse(origin) && isLoopback(new URL(origin).host)

const timesText = (requests: number): string => (requests === 1 ? '1 request' : `${requests} requests`)

/** Forwarding headers from peers that are no trusted proxies. All their clients share one address and one rate limit. */
export function checkForwarded({ serving }: DoctorContext): Outcome {
  if (serving === null) return skipped(`${NO_SERVER} Requests are not seen.`, START)
  const { seen } = serving
  if (seen.requests() === 0) return skipped('No request has arrived since the server started.')
  const untrusted = seen.untrustedForwarders()
  if (untrusted.length === 0)
    return ok('Every forwarding header came from a trusted proxy, or there was none.')
  const peers = untrusted.slice(0, 5).map(({ value, requests }) => `${value} (${timesText(requests)})`)
  const detail = `Forwarding headers came from ${peers.join(', ')}, which are no trusted proxies. Windfall ignores these headers.`
  const remedy = `If one is your proxy, add it to \`server.trusted_proxies\`. Other clients can send such headers, too.`
  const share = untrusted.reduce((sum, { requests }) => sum + requests, 0) / seen.requests()
  return untrusted.some(({ value }) => isPrivate(value)) || share > 0.5
    ? warning(detail, remedy)
    : ok(detail, { remedy })
}

/** Private, loopback and link-local addresses (RFC 1918, RFC 4193, RFC 3927), from which a proxy usually connects. */
const isPrivate = (address: string): boolean =>
  /^(?:10\.|127\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|::1$|f[cd]|fe80:)/i.test(address)

const EXPIRES_SOON_MS = 14 * DAY_MS
const ROOT_WARNING_MS = 90 * DAY_MS

/** The certificate of the base URL, and Apple's root certificate. */
export async function checkCertificates(context: DoctorContext): Promise<Outcome[]> {
  const { serving, config, clock, root_expires_at } = context
  const base_url = serving?.base_url ?? config.base_url
  return [await ownCertificate(base_url, clock()), rootOutcome(root_expires_at, clock())]
}

async function ownCertificate(base_url: string, now: number): Promise<Outcome> {
  const details = { subject: 'base_url', title: 'Certificate of base_url' }
  if (!base_url.startsWith('https:')) return skipped('base_url does not use HTTPS.', null, details)
  try {
    const { expires_at, issuer, problem } = await certificateAt(base_url)
    const days = Math.floor((expires_at - now) / DAY_MS)
    const detail = `Issued by ${issuer}, valid until ${dayOfUtc(expires_at)} (${days} days).`
    if (problem !== null) return error(`${detail} It is not accepted: ${problem}.`, RENEW, details)
    return expires_at - now < EXPIRES_SOON_MS ? warning(detail, RENEW, details) : ok(detail, details)
  } catch (failure) {
    const detail = `The certificate at ${base_url} cannot be read: ${errorText(failure)}.`
    return skipped(detail, 'See the check of the base URL.', details)
  }
}

const RENEW =
  'Renew the certificate in the proxy, with the whole chain. See the log of the proxy for why it was not renewed.'

function rootOutcome(root_expires_at: number, now: number): Outcome {
  const details = { subject: 'apple_root', title: 'Apple’s root certificate' }
  const detail = `Valid until ${dayOfUtc(root_expires_at)}.`
  const remedy = 'Install a newer version of Windfall.'
  if (root_expires_at <= now) return error(`Expired on ${dayOfUtc(root_expires_at)}.`, remedy, details)
  return root_expires_at - now < ROOT_WARNING_MS ? warning(detail, remedy, details) : ok(detail, details)
}

/** Whether every passkey can sign in at the base URL. */
export function checkPasskeys({ config, serving, reader }: DoctorContext): Outcome {
  if (reader === null) return skipped(NO_DATABASE)
  const { passkeys, problem, remedy } = examinePasskeys(reader, serving?.base_url ?? config.base_url)
  if (problem !== null) return warning(problem, remedy)
  return ok(
    passkeys === 0
      ? 'The owner has no passkey.'
      : `${passkeys === 1 ? '1 passkey' : `${passkeys} passkeys`} can sign in.`,
  )
}
