/** What the process says: one line a happening, for people or for machines, and never a secret. */
import { type ConsolaReporter, createConsola, LogLevels } from 'consola/core'
import { type Clock, systemClock } from './clock.ts'

/** The least important kind of line that is written. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** What belongs to a line besides its message. */
type Fields = Readonly<Record<string, unknown>>

/** One answered request. `bytes` is null where the answer is a stream, `code` is the code of a refusal. */
type RequestLine = Readonly<{
  method: string
  path: string
  status: number
  ms: number
  bytes: number | null
  request_id: string
  code: string | null
}>

const token = /((?:[ps]k_live|dt|wf)_[\w-]{4})[\w-]+/g
const bearer = /(bearer\s+(?!(?:[ps]k_live|dt|wf)_)[^\s"'\\]{4})[^\s"'\\]{4,}/gi
const authorization =
  /(authorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:basic|bearer)\s+)?[^\s"'\\]{1,4})[^"'\\\n]*/gi
const secretField = /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i
const longestPath = 300
const mostPending = 65_536
const longestWait = 25

/**
 * The same text with every secret cut to its prefix and four characters: `pk_live_…`, `sk_live_…`, `dt_…` and `wf_…`
 * wherever they stand, and what follows the words authorization and bearer.
 */
export function redact(text: string): string {
  return text.replace(token, '$1…').replace(bearer, '$1…').replace(authorization, '$1…')
}

function shown(key: string, value: unknown): unknown {
  if (secretField.test(key)) return '…'
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Error) return { message: value.message, stack: value.stack, cause: value.cause }
  return value
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value, shown) ?? 'null'
  } catch {
    // A circle in what was handed over must not cost the line.
    return '"(cannot be shown)"'
  }
}

function asWord(key: string, value: unknown): string {
  if (value instanceof Error) return `\n${value.stack ?? value.message}`
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return ` ${key}=${shown(key, value)}`
  return ` ${key}=${asJson(shown(key, value))}`
}

/**
 * Gathers what is said within a moment and writes it at once: a system call for each line would cost more than the line.
 * The bytes lie outside the heap, where waiting lines are nothing that the garbage collector copies.
 */
function openSink(write: (bytes: Uint8Array) => void) {
  const pending = Buffer.allocUnsafe(mostPending)
  let size = 0
  let waiting = false

  function flush(): void {
    if (size === 0) return
    const bytes = Buffer.from(pending.subarray(0, size))
    size = 0
    write(bytes)
  }

  function say(line: string): void {
    // A character has three bytes of UTF-8 at most.
    if (size + line.length * 3 > mostPending) flush()
    if (line.length * 3 > mostPending) return write(Buffer.from(line))
    size += pending.write(line, size)
    if (waiting) return
    waiting = true
    setTimeout(flushLater, longestWait)
  }

  function flushLater(): void {
    waiting = false
    flush()
  }

  return { say, flush }
}

/** All lines of a millisecond share its text: dates are the dearest part of a line. */
function openTimestamps(clock: Clock, format: 'pretty' | 'json') {
  let millisecond = Number.NaN
  let text = ''

  return function timestamp(): string {
    const now = Math.floor(clock())
    if (now === millisecond) return text
    millisecond = now
    const whole = new Date(now).toISOString()
    text = format === 'json' ? whole : whole.slice(11, 19)
    return text
  }
}

/**
 * Opens the log. Lines below `level` are dropped; `pretty` is for people, `json` is one object a line; both have times
 * in UTC. Lines wait up to 25 ms and then go to `write` (standard output) together; an error goes out at once. Call
 * `flush()` before the process ends itself.
 */
export function openLog(options: {
  format: 'pretty' | 'json'
  level: LogLevel
  write?: (bytes: Uint8Array) => void
  clock?: Clock
}) {
  const { format } = options
  const timestamp = openTimestamps(options.clock ?? systemClock, format)
  const { say, flush } = openSink(options.write ?? ((bytes) => process.stdout.write(bytes)))

  function line(level: string, message: string, fields: Fields): string {
    if (format === 'json') {
      const first = { time: timestamp(), level, message }
      const all = Object.entries({ ...first, ...fields, ...first })
      return `{${all.map(([key, value]) => `${JSON.stringify(key)}:${asJson(shown(key, value))}`).join(',')}}`
    }
    const words = Object.entries(fields).map(([key, value]) => asWord(key, value))
    return `${timestamp()} ${level.padEnd(5)} ${message}${words.join('')}`
  }

  const reporter: ConsolaReporter = {
    log({ type, args: [message, fields] }) {
      say(`${redact(line(type, String(message), fields ?? {}))}\n`)
      if (type === 'error') flush()
    },
  }
  // A throttle would swallow lines that look alike.
  const consola = createConsola({ level: LogLevels[options.level], reporters: [reporter], throttle: 0 })

  /** Does not pass through consola: this runs on every request. */
  function request(asked: RequestLine): void {
    if (consola.level < LogLevels.info) return
    const { method, status, bytes, request_id, code } = asked
    // Every secret has an underscore in it, nearly no path has.
    const path = asked.path.includes('_') ? redact(asked.path) : asked.path
    const ms = Math.round(asked.ms * 10) / 10
    const tail = code === null ? '' : format === 'json' ? `,"code":"${code}"` : ` ${code}`
    say(
      format === 'json'
        ? `{"time":"${timestamp()}","level":"info","message":"request","method":"${method}","path":${JSON.stringify(path.slice(0, longestPath))},"status":${status},"ms":${ms},"bytes":${bytes},"request_id":"${request_id}"${tail}}\n`
        : `${timestamp()} ${method} ${path.slice(0, longestPath)} ${status} ${ms}ms ${bytes ?? '-'}B ${request_id}${tail}\n`,
    )
  }

  return {
    debug: (message: string, fields: Fields = {}) => consola.debug(message, fields),
    info: (message: string, fields: Fields = {}) => consola.info(message, fields),
    warn: (message: string, fields: Fields = {}) => consola.warn(message, fields),
    error: (message: string, fields: Fields = {}) => consola.error(message, fields),
    request,
    flush,
    setLevel(level: LogLevel): void {
      consola.level = LogLevels[level]
    },
  }
}

/** Where the product says what it does. */
export type Log = ReturnType<typeof openLog>
