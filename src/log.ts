/** What the process says: one line a happening, for people or for machines, and never a secret. */
import { type ConsolaReporter, createConsola, LogLevels } from 'consola/core'
import { type Clock, systemClock } from './clock.ts'

/** The least important kind of line that is written. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** What belongs to a line besides its message. */
type Fields = Readonly<Record<string, unknown>>

/** One answered request. `bytes` is null where the answer is a stream, `code` is the code of a refusal. */
type RequestLogEntry = Readonly<{
  method: string
  path: string
  status: number
  ms: number
  bytes: number | null
  request_id: string
  code: string | null
}>

const TOKEN = /((?:[ps]k_live|dt|wf)_[\w-]{4})[\w-]+/g
const BEARER = /(bearer\s+(?!(?:[ps]k_live|dt|wf)_)[^\s"'\\]{4})[^\s"'\\]{4,}/gi
const AUTHORIZATION =
  /(authorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:basic|bearer)\s+)?[^\s"'\\]{1,4})[^"'\\\n]*/gi
const SECRET_FIELD = /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i
const MAX_PATH_LENGTH = 300
const MAX_PENDING_BYTES = 65_536
const FLUSH_AFTER_MS = 25

/**
 * The same text with every secret cut to its prefix and four characters: `pk_live_…`, `sk_live_…`, `dt_…` and `wf_…`
 * wherever they stand, and what follows the words authorization and bearer.
 */
export function redact(text: string): string {
  return text.replace(TOKEN, '$1…').replace(BEARER, '$1…').replace(AUTHORIZATION, '$1…')
}

function loggable(key: string, value: unknown): unknown {
  if (SECRET_FIELD.test(key)) return '…'
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Error) return { message: value.message, stack: value.stack, cause: value.cause }
  return value
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, loggable) ?? 'null'
  } catch {
    // A circle in what was handed over must not cost the line.
    return '"(cannot be shown)"'
  }
}

function prettyField(key: string, value: unknown): string {
  if (value instanceof Error) return `\n${value.stack ?? value.message}`
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return ` ${key}=${loggable(key, value)}`
  return ` ${key}=${jsonText(loggable(key, value))}`
}

/**
 * Gathers what is said within a moment and writes it at once: a system call for each line would cost more than the line.
 * The bytes lie outside the heap, where waiting lines are nothing that the garbage collector copies.
 */
function openSink(write: (bytes: Uint8Array) => void) {
  const pending = Buffer.allocUnsafe(MAX_PENDING_BYTES)
  let size = 0
  let waiting = false

  function flush(): void {
    if (size === 0) return
    const bytes = Buffer.from(pending.subarray(0, size))
    size = 0
    write(bytes)
  }

  function writeLine(line: string): void {
    // A character has three bytes of UTF-8 at most.
    if (size + line.length * 3 > MAX_PENDING_BYTES) flush()
    if (line.length * 3 > MAX_PENDING_BYTES) return write(Buffer.from(line))
    size += pending.write(line, size)
    if (waiting) return
    waiting = true
    setTimeout(flushLater, FLUSH_AFTER_MS)
  }

  function flushLater(): void {
    waiting = false
    flush()
  }

  return { writeLine, flush }
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
  const { writeLine, flush } = openSink(options.write ?? ((bytes) => process.stdout.write(bytes)))

  function line(level: string, message: string, fields: Fields): string {
    if (format === 'json') {
      const first = { time: timestamp(), level, message }
      const all = Object.entries({ ...first, ...fields, ...first })
      return `{${all.map(([key, value]) => `${JSON.stringify(key)}:${jsonText(loggable(key, value))}`).join(',')}}`
    }
    const words = Object.entries(fields).map(([key, value]) => prettyField(key, value))
    return `${timestamp()} ${level.padEnd(5)} ${message}${words.join('')}`
  }

  const reporter: ConsolaReporter = {
    log({ type, args: [message, fields] }) {
      writeLine(`${redact(line(type, String(message), fields ?? {}))}\n`)
      if (type === 'error') flush()
    },
  }
  // A throttle would swallow lines that look alike.
  const consola = createConsola({ level: LogLevels[options.level], reporters: [reporter], throttle: 0 })

  /** Does not pass through consola: this runs on every request. */
  function request(entry: RequestLogEntry): void {
    if (consola.level < LogLevels.info) return
    const { method, status, bytes, request_id, code } = entry
    // Every secret has an underscore in it, nearly no path has.
    const path = entry.path.includes('_') ? redact(entry.path) : entry.path
    const ms = Math.round(entry.ms * 10) / 10
    const tail = code === null ? '' : format === 'json' ? `,"code":"${code}"` : ` ${code}`
    writeLine(
      format === 'json'
        ? `{"time":"${timestamp()}","level":"info","message":"request","method":"${method}","path":${JSON.stringify(path.slice(0, MAX_PATH_LENGTH))},"status":${status},"ms":${ms},"bytes":${bytes},"request_id":"${request_id}"${tail}}\n`
        : `${timestamp()} ${method} ${path.slice(0, MAX_PATH_LENGTH)} ${status} ${ms}ms ${bytes ?? '-'}B ${request_id}${tail}\n`,
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
