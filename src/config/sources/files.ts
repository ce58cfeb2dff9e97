/** What we compute: the text of a file, or in words why there is none. */
import { readFileSync, statSync } from 'node:fs'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'is not open to this user',
  ENAMETOOLONG: 'is too long a name',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
  EISDIR: 'is a folder',
  EROFS: 'is on a file system that cannot be written',
  ELOOP: 'is a link that leads to itself',
}

/** A file's text and the permission bits of its mode, or what is the matter with it. */
export function readFile(file: string): Readonly<{ text: string; mode: number } | { problem: string }> {
  try {
    const stat = statSync(file)
    if (!stat.isFile()) return { problem: stat.isDirectory() ? 'is a folder' : 'is not a plain file' }
    return { text: decode(readFileSync(file)), mode: stat.mode & 0o777 }
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

/** Why a file operation failed, as a sentence about the file goes on: "does not exist". */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return REASONS[code] ?? `cannot be used (${code})`
}

/** The code of an error that Node.js made; anything else goes on as it is. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) throw error
  return String(error.code)
}
