/** E-mail over SMTP (RFC 5321), encrypted with TLS or STARTTLS (RFC 3207, RFC 8314). */
import tls from 'node:tls'
import type { SMTPTransportOptions } from 'nodemailer/lib/smtp-transport/index.js'
import * as v from 'valibot'
import { OutgoingError } from '../../outgoing/failures.ts'
import type { ChannelKind, ChannelMessage, SendContext, SendResult } from './channel.ts'
import { bytesOf, cut, oneLine } from './texts.ts'

const address = v.pipe(v.string(), v.trim(), v.email('must be an e-mail address'), v.maxLength(254))
const MAX_RECIPIENTS = 10
const recipientsOf = (to: string): string[] => to.split(',').map((one) => one.trim())
const ADDRESSES = 'must be an e-mail address, or several in one text, separated by commas'
const isAddress = (one: string): boolean => v.is(address, one)
/** Addresses that are separated by commas. */
const addresses = v.pipe(
  v.string(ADDRESSES),
  v.trim(),
  v.check(
    (to) => recipientsOf(to).every(isAddress),
    ({ input }) => {
      const wrong = recipientsOf(input).find((one) => !isAddress(one))
      return recipientsOf(input).length === 1 ? ADDRESSES : `${ADDRESSES}: "${wrong}" is not one`
    },
  ),
  v.check((to) => recipientsOf(to).length <= MAX_RECIPIENTS, `must be at most ${MAX_RECIPIENTS} addresses`),
)
const Settings = v.strictObject({
  host: v.pipe(v.string(), v.trim(), v.regex(/^[A-Za-z0-9.:-]{1,253}$/, 'must be a host name')),
  port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535)), 587),
  security: v.optional(v.picklist(['starttls', 'tls'])),
  from: address,
  to: addresses,
  user: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(254))),
})
const Secrets = v.strictObject({ password: v.optional(v.pipe(v.string(), v.maxLength(1_000))) })

/** The port with TLS from the first byte, unless `security` says otherwise. */
const TLS_PORT = 465
const TIMEOUT_MS = 15_000
const MAX_SUBJECT_BYTES = 200

type Settings = v.InferOutput<typeof Settings>
type Secrets = v.InferOutput<typeof Secrets>

export const email: ChannelKind<Settings, Secrets> = {
  kind: 'email',
  settings: Settings,
  secrets: Secrets,
  limitsOf: () => [{ count: 60, per_ms: 3_600_000 }],
  accountOf: ({ host, user, from }) => `${host}/${user ?? from}`,
  addressOf: ({ to }) => to,
  async send(message, channel, context) {
    try {
      return partResult(await deliver(message, channel, context), channel.settings)
    } catch (error) {
      return resultOf(error, channel.settings)
    }
  },
}

/**
 * Sends one message on a connection of its own, whose address was checked.
 *
 * @throws Error of SMTP if no recipient was accepted, OutgoingError
 */
async function deliver(
  message: ChannelMessage,
  { settings, secrets }: { settings: Settings; secrets: Secrets },
  { dispatcher, signal }: SendContext,
): Promise<Sent> {
  const { host, port, from, to, user } = settings
  const isTls = (settings.security ?? (port === TLS_PORT ? 'tls' : 'starttls')) === 'tls'
  const { socket, permitsPlain } = await dispatcher.connect(host, port)
  const abort = (): void => void socket.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    const { createTransport } = await import('nodemailer')
    const ca = dispatcher.ca()
    const options: SMTPTransportOptions = {
      host,
      port,
      connection: socket,
      secure: isTls,
      requireTLS: !isTls && !permitsPlain,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
      tls: {
        servername: host,
        // STARTTLS of an address that may do without encryption needs no trusted certificate.
        rejectUnauthorized: isTls || !permitsPlain,
        ...(ca !== null && { ca: [...tls.getCACertificates('default'), ca] }),
      },
      ...(user !== undefined && { auth: { user, pass: secrets.password ?? '' } }),
    }
    return await createTransport(options).sendMail({
      from: { name: 'Windfall', address: from },
      to: recipientsOf(to),
      subject: cut(oneLine(message.title), MAX_SUBJECT_BYTES, bytesOf),
      text: `${message.body}\n\n${message.url}\n`,
      html: htmlOf(message),
      date: new Date(message.at),
      messageId: `<${message.id}@${domainOf(from)}>`,
      headers: {
        'auto-submitted': 'auto-generated',
        ...(message.urgency === 'trouble' && { importance: 'high', 'x-priority': '1' }),
      },
    })
  } finally {
    signal.removeEventListener('abort', abort)
    socket.destroy()
  }
}

/** Filters of spam compare the domain of the Message-ID with that of the sender. */
const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

function htmlOf({ title, body, url, fields }: ChannelMessage): string {
  const rows = fields.map(
    ({ label, value }) =>
      `<tr><td style="color:#666;padding:2px 12px 2px 0">${escaped(label)}</td><td>${escaped(value)}</td></tr>`,
  )
  return [
    '<div style="font:16px/1.5 -apple-system,Segoe UI,Roboto,sans-serif">',
    `<p style="font-size:20px;font-weight:600;margin:0 0 8px">${escaped(title)}</p>`,
    `<p style="margin:0 0 12px;white-space:pre-line">${escaped(body)}</p>`,
    rows.length === 0
      ? ''
      : `<table style="border-collapse:collapse;margin:0 0 12px">${rows.join('')}</table>`,
    `<p style="margin:0"><a href="${escaped(url)}">Open in Windfall</a></p></div>`,
  ].join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one)

/** What the server accepted. `rejectedErrors`: its answers about the recipients that it did not accept. */
type Sent = { rejected: readonly unknown[]; rejectedErrors?: readonly SmtpError[] | undefined }

/**
 * Whether the server accepted all recipients. The message is sent to all again if it may accept the others later, because
 * a send stores no recipients; their programs know it by its Message-ID. Otherwise it is sent: the others have it.
 */
function partResult({ rejected, rejectedErrors = [] }: Sent, { host, port }: Settings): SendResult {
  if (rejected.length === 0) return { kind: 'sent' }
  const answers = rejectedErrors.map(({ response, message }) => oneLine(response ?? message)).join('; ')
  const words = `${host}:${port} does not accept ${rejected.join(', ')}: ${answers}.`
  const isTemporary = rejectedErrors.every(({ responseCode = 0 }) => responseCode < 500)
  return isTemporary
    ? { kind: 'retry', words, after_ms: null }
    : { kind: 'sent', words: `${words} The other recipients have the message. Check the addresses.` }
}

/** 4xx is tried again. A wrong password or recipient means that the channel does not work; other 5xx refuse the message. */
function resultOf(error: unknown, { host, port }: Settings): SendResult {
  if (error instanceof OutgoingError) return { kind: 'retry', words: error.message, after_ms: null }
  const { code = '', responseCode = 0, response, message } = error as SmtpError
  const words = `${host}:${port}${happened({ code, response, message })}.`
  const isTemporary = responseCode >= 400 && responseCode < 500
  if (code === 'EAUTH' && !isTemporary)
    return { kind: 'dead', words: `${words} Check the user and the password.` }
  if (code === 'ETLS')
    return {
      kind: 'dead',
      words: `${words} The connection must be encrypted: use port 465, or a server with STARTTLS.`,
    }
  if (code === 'EENVELOPE' && responseCode >= 500)
    return { kind: 'dead', words: `${words} Check the addresses.` }
  return responseCode >= 500 ? { kind: 'refused', words } : { kind: 'retry', words, after_ms: null }
}

/** What happened, as the end of a sentence: an error without a response is no answer of the server. */
function happened({ code, response, message }: Pick<SmtpError, 'code' | 'response' | 'message'>): string {
  if (response !== undefined) return ` answered: ${oneLine(response)}`
  return code === 'ETIMEDOUT'
    ? ` did not answer within ${TIMEOUT_MS / 1_000} seconds`
    : `: ${oneLine(message)}`
}

type SmtpError = Error & {
  code?: string | undefined
  responseCode?: number | undefined
  response?: string | undefined
}
