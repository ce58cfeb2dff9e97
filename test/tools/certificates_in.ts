/** The certificates that a file contains. */
import { readdirSync, readFileSync } from 'node:fs'
import { at } from '../../tools/bundle.mjs'

/** A PEM certificate, as text or as a JavaScript string whose line breaks are escaped. */
const PEM = /-----BEGIN CERTIFICATE-----((?:\\n|[\r\nA-Za-z0-9+/=])+)-----END CERTIFICATE-----/g

/** What esbuild puts where a string would make a line too long. */
export const CONTINUATION = '\\\n'
const base64Of = (body: string): string => body.replaceAll('\\n', '').replace(/\s/g, '')

/** The certificates in a text as base64, sorted, each once. */
export const certificatesInText = (text: string): string[] =>
  [
    ...new Set([...text.replaceAll(CONTINUATION, '').matchAll(PEM)].map(([, body = '']) => base64Of(body))),
  ].sort()

/** The certificates in a file, which may be binary. */
export const certificatesIn = (file: string): string[] => certificatesInText(readFileSync(file, 'latin1'))

/** Where the package for passkeys has the roots of authenticators, which verify no signature of Apple's purchases. */
const PASSKEY_ROOTS = at('node_modules/@simplewebauthn/server/esm/services/defaultRootCerts')

/** The certificates of the package for passkeys. */
export const passkeyCertificates = (): string[] =>
  readdirSync(PASSKEY_ROOTS)
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => certificatesIn(`${PASSKEY_ROOTS}/${name}`))
