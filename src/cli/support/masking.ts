/** Removes secrets, ids and everything that could be one from what a support bundle contains. */

import { effectiveSettings } from '../../config/effective_settings.ts'
import { flatten } from '../../config/flatten.ts'
import type { ConfigSources } from '../../config/load.ts'
import { type Config, settingAt } from '../../config/settings.ts'

export const MASKED = '(masked)'

/** Settings that are no secrets but name an account at Apple, a key or a receiver. */
const PRIVATE_KEYS = new Set([
  'publishable_key',
  'issuer_id',
  'vendor_numbers',
  'connect_key_id',
  'purchase_issuer_id',
  'purchase_key_id',
  'team_id',
  'recipients',
  'access_key_id',
])

/** Shorter values are too frequent in ordinary text, and no secret is so short. */
const MIN_CHARACTERS = 4

const URL_TEXT = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/"'`]*@)?([^\s/"'`?#]+)[^\s"'`]*/gi
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN [^-]+-----[\s\S]*?(?:-----END [^-]+-----|$)/g,
  // Keys and tokens of Windfall, signing secrets, age keys and JSON web signatures.
  /\b(?:[ps]k_live|dt|wd|wf)_[\w-]+/g,
  /\bwhsec_[\w+/=-]+/g,
  /\bage1[a-z0-9]{20,}|\bAGE-SECRET-KEY-1[A-Z0-9]+/g,
  /\beyJ[\w-]+(?:\.[\w-]*)*/g,
  // E-mail addresses, UUIDs, long numbers, and long random text in hexadecimal or base64.
  /[^\s@"'`<>]+@[^\s@"'`<>]+\.[a-z]{2,}/gi,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b\d{9,}\b/g,
  /\b[0-9a-f]{24,}\b/gi,
  /(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])(?=[\w+=-]*\d)[\w+=-]{20,}/g,
]

export type Mask = ReturnType<typeof openMask>

/**
 * Opens the mask for an installation. It knows the secrets and the private values of its configuration, and every text in
 * `stored`, the private values of its database.
 */
export function openMask(config: Config, stored: readonly unknown[]) {
  const values = [...configuredValues(config), ...stored.flatMap(textsIn)]
  const known = [...new Set(values)]
    .filter((value) => value.length >= MIN_CHARACTERS)
    .sort((a, b) => b.length - a.length)

  /** A text without known values, secrets, and the paths and queries of URLs. */
  function text(original: string): string {
    const masked = known.reduce((all, value) => all.replaceAll(value, MASKED), original)
    const withoutPaths = masked.replace(URL_TEXT, '$1$2')
    return PATTERNS.reduce((all, pattern) => all.replace(pattern, MASKED), withoutPaths)
  }

  /** The same value with every text masked. Numbers and the names of fields stay. */
  function all(value: unknown): unknown {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(all)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, all(inner)]))
  }

  return { text, all }
}

/** Every text of a secret or private setting. */
const configuredValues = (config: Config): string[] =>
  flatten(config).flatMap(([path, value]) =>
    settingAt(path)?.secret || PRIVATE_KEYS.has(String(path.at(-1))) ? textsIn(value) : [],
  )

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** The settings that are not at their default, with their sources. Secret and private values are masked. */
export const maskedSettings = (config: Config, sources: ConfigSources) =>
  effectiveSettings(config, sources).flatMap(({ settings }) =>
    settings
      .filter(({ source }) => source !== 'default')
      .map(({ path, key, value, is_secret, is_set, source, place }) => {
        const isMasked = is_secret || PRIVATE_KEYS.has(key)
        return { path, value: isMasked ? (is_set ? MASKED : null) : value, source, place }
      }),
  )
