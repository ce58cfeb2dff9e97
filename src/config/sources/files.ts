/** Reads text files and describes file system errors. */
import { readFileSync, statSync } from 'node:fs'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'is not accessible to this user',
  ENAMETOOLONG: 'has too long a name',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
  EISDIR: 'is a folder',
  EROFS: 'is on a read-only file system',
  ELOOP: 'is a symbolic link to itself',
}

/** The text of a file and the permission bits of its mode, or why it cannot be read. */
export function readFile(file: string): Readonly<{ text: string; mode: number } | { problem: string }> {
  try {
    const stat = statSync(file)
    if (!stat.isFile()) return { problem: stat.isDirectory() ? 'is a folder' : 'is not a regular file' }
    return { text: decode(readFileSync(file)), mode: stat.mode & 0o777 }
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

/** Why a file operation failed; completes a sentence about the file: "does not exist". */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return REASONS[code] ?? `cannot be used (${code})`
}

/** The code of an error from Node.js. @throws `error` itself if it has no code. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) throw error
  return String(error.code)
}
