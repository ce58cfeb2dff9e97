/** The log: one line for each message, as text or JSON, with secrets redacted. */
import { type ConsolaReporter, createConsola, LogLevels } from 'consola/core'
import { type Clock, systemClock } from './clock.ts'

/** The minimum level of the lines that are written. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** The fields of a line, in addition to its message. */
type Fields = Readonly<Record<string, unknown>>

/** One answered request. `bytes` is null if the response is a stream; `code` is the code of a refusal. */
type RequestLogEntry = Readonly<{
  method: string
  path: string
  status: number
  ms: number
  bytes: number | null
  request_id: string
  code: string | null
}>

const TOKEN = /((?:[ps]k_live|dt|wf|wd)_[\w-]{4})[\w-]+/g
const SIGNING_SECRET = /(whsec_[\w+/]{4})[\w+/=]+/g
const BEARER = /(bearer\s+(?!(?:[ps]k_live|dt|wf|wd)_)[^\s"'\\]{4})[^\s"'\\]{4,}/gi
const AUTHORIZATION =
  /(authorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:basic|bearer)\s+)?[^\s"'\\]{1,4})[^"'\\\n]*/gi
const SECRET_FIELD = /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i
const MAX_PATH_LENGTH = 300
const MAX_PENDING_BYTES = 65_536
const FLUSH_AFTER_MS = 25

/**
 * Cuts every secret in a text to its prefix and four characters: `pk_live_…`, `sk_live_…`, `dt_…`, `wf_…`, `wd_…` and `whsec_…`
 * anywhere, and what follows the words authorization and bearer.
 */
export function redact(text: string): string {
  return text
    .replace(TOKEN, '$1…')
    .replace(SIGNING_SECRET, '$1…')
    .replace(BEARER, '$1…')
    .replace(AUTHORIZATION, '$1…')
}

/** What the journal reads before a line, and removes: the priority of syslog (sd-daemon(3)). */
const PRIORITIES: Readonly<Record<string, string>> = { debug: '<7>', info: '<6>', warn: '<4>', error: '<3>' }

/** A replacer for `JSON.stringify`: hides secret fields, and converts bigints and errors. */
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
    // A circular value must not prevent the line from being written.
    return '"(cannot be shown)"'
  }
}

function prettyField(key: string, value: unknown): string {
  if (value instanceof Error) return `\n${value.stack ?? value.message}`
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return ` ${key}=${loggable(key, value)}`
  return ` ${key}=${jsonText(loggable(key, value))}`
}

/**
 * Buffers lines and writes them together: a system call for each line costs more than the line itself. The buffer is
 * outside the heap, so the garbage collector does not copy pending lines.
 */
function openSink(write: (bytes: Uint8Array) => void) {
  const pending = Buffer.allocUnsafe(MAX_PENDING_BYTES)
  let size = 0
  let isFlushScheduled = false

  function flush(): void {
    if (size === 0) return
    const bytes = Buffer.from(pending.subarray(0, size))
    size = 0
    write(bytes)
  }

  function writeLine(line: string): void {
    // A UTF-16 code unit has at most three bytes of UTF-8.
    if (size + line.length * 3 > MAX_PENDING_BYTES) flush()
    if (line.length * 3 > MAX_PENDING_BYTES) return write(Buffer.from(line))
    size += pending.write(line, size)
    if (isFlushScheduled) return
    isFlushScheduled = true
    setTimeout(flushLater, FLUSH_AFTER_MS)
  }

  function flushLater(): void {
    isFlushScheduled = false
    flush()
  }

  return { writeLine, flush }
}

/** Caches the timestamp of the current millisecond: formatting dates dominates the cost of a line. */
function openTimestamps(clock: Clock, format: 'pretty' | 'json') {
  let millisecond = Number.NaN
  let text = ''

  return function timestamp(): string {
    const now = Math.floor(clock())
    if (now === millisecond) return text
    millisecond = now
    const iso = new Date(now).toISOString()
    text = format === 'json' ? iso : iso.slice(11, 19)
    return text
  }
}

/**
 * Opens the log. Lines below `level` are dropped. `pretty` is text for people, `json` is one object per line; times are
 * in UTC. Lines are buffered for up to 25 ms and then passed to `write` (standard output); an error is written
 * immediately. `hasPriorities`: each line begins with its priority, for the journal of systemd. Call `flush()` before the
 * process exits.
 */
export function openLog(options: {
  format: 'pretty' | 'json'
  level: LogLevel
  hasPriorities?: boolean
  write?: (bytes: Uint8Array) => void
  clock?: Clock
}) {
  const { format, hasPriorities = false } = options
  const timestamp = openTimestamps(options.clock ?? systemClock, format)
  const { writeLine, flush } = openSink(options.write ?? ((bytes) => process.stdout.write(bytes)))

  function formatLine(level: string, message: string, fields: Fields): string {
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
      const line = `${redact(formatLine(type, String(message), fields ?? {}))}\n`
      // The journal takes each line by itself.
      writeLine(hasPriorities ? line.replaceAll(/^(?!$)/gm, PRIORITIES[type] ?? '') : line)
      if (type === 'error') flush()
    },
  }
  // consola's throttle would drop repeated lines.
  const consola = createConsola({ level: LogLevels[options.level], reporters: [reporter], throttle: 0 })

  /** Logs a request. Bypasses consola, because this runs on every request. */
  function request(entry: RequestLogEntry): void {
    if (consola.level < LogLevels.info) return
    const { method, status, bytes, request_id, code } = entry
    // Every secret has an underscore; almost no path has one.
    const path = entry.path.includes('_') ? redact(entry.path) : entry.path
    const ms = Math.round(entry.ms * 10) / 10
    const tail = code === null ? '' : format === 'json' ? `,"code":"${code}"` : ` ${code}`
    writeLine(
      format === 'json'
        ? `{"time":"${timestamp()}","level":"info","message":"request","method":"${method}","path":${JSON.stringify(path.slice(0, MAX_PATH_LENGTH))},"status":${status},"ms":${ms},"bytes":${bytes},"request_id":"${request_id}"${tail}}\n`
        : `${timestamp()} ${method} ${path.slice(0, MAX_PATH_LENGTH)} ${status} ${ms}ms ${bytes === null ? '-' : `${bytes}B`} ${request_id}${tail}\n`,
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

/** The log of the process. */
export type Log = ReturnType<typeof openLog>
