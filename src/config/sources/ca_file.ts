/** Reads the certificates of the private certificate authority that `outbound.ca_file` names. */
import { X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import type { RawConfig } from '../raw_config.ts'
import { isTable } from '../setting.ts'
import { readFile } from './files.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** The text of the file; null if none is named or the file is invalid. For an invalid file, adds an issue to `raw`. */
export function readCaFile(raw: RawConfig, base: string): string | null {
  const section = raw.values.outbound
  const file = isTable(section) ? section.ca_file : null
  if (typeof file !== 'string' || file === '') return null
  const full = resolve(base, file)
  const read = readFile(full)
  const problem = 'problem' in read ? read.problem : problemOf(read.text)
  if (problem === null && 'text' in read) return read.text
  const advice = 'Write the path of a file that contains certificates in PEM form.'
  raw.addIssue(['outbound', 'ca_file'], `${full} ${problem}`, advice)
  return null
}

function problemOf(text: string): string | null {
  if (text.includes('PRIVATE KEY')) return 'contains a private key'
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) return 'contains no certificate in PEM form'
  return certificates.every(isCertificate) ? null : 'contains a damaged certificate'
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined
  } catch {
    return false
  }
}
