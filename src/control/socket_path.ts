/** The path of the control socket, and the checks that make a socket trusted. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Refusal } from '../errors.ts'
import { realPathOf, statsAt } from '../store/disk/paths.ts'

/** Paths of Unix sockets are short: 104 bytes on macOS. */
const MAX_PATH_LENGTH = 100
const ROOT = 0
/** Write permission for the group or others. */
const WRITABLE_BY_OTHERS = 0o022

const ownUid = (): number => process.geteuid?.() ?? ROOT

/**
 * Where the server of `databaseFile` listens: next to the file, or, if that path is too long or other users can write
 * to the folder, in a private folder (0700) within the folder for temporary files.
 *
 * @throws Refusal 409 `untrusted_folder` if another user owns that folder or can write to it.
 */
export function listenPath(databaseFile: string): string {
  const real = realPathOf(databaseFile)
  const beside = siblingSocketPath(real)
  const uid = ownUid()
  if (beside !== null && faultOfFolder(lstatSync(dirname(real)), [uid]) === null) return beside
  const folder = privateFolder(uid)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fault = faultOfFolder(lstatSync(folder), [uid])
  if (fault !== null) {
    const detail = `the control socket cannot be created in ${folder}: ${fault}; remove that folder, or set TMPDIR to a folder that only you can write to`
    throw new Refusal(409, 'untrusted_folder', detail)
  }
  return join(folder, nameFor(real))
}

/**
 * The existing sockets at which the server of `databaseFile` may listen. A socket is trusted only if this user owns it
 * (for root: or the owner of the database file), in a folder that no one else can write to.
 *
 * @throws Refusal 403 `untrusted_socket` if an existing socket is not trusted.
 */
export function* candidatePaths(databaseFile: string): Generator<string> {
  const real = realPathOf(databaseFile)
  const owners = trustedOwners(real)
  const inFolders = owners.map((uid) => join(privateFolder(uid), nameFor(real)))
  const beside = siblingSocketPath(real)
  for (const path of [...(beside === null ? [] : [beside]), ...inFolders]) {
    if (isTrusted(path, owners)) yield path
  }
}

function trustedOwners(real: string): number[] {
  const uid = ownUid()
  const owner = uid === ROOT ? statsAt(real)?.uid : undefined
  return [...new Set([uid, owner ?? uid])]
}

function isTrusted(path: string, owners: readonly number[]): boolean {
  const socket = statsAt(path)
  if (socket === null) return false
  const isOwn = socket.isSocket() && owners.includes(socket.uid)
  const folder = dirname(path)
  const fault = isOwn
    ? faultOfFolder(lstatSync(folder), owners)
    : `it is not a socket of this user (its owner is user ${socket.uid})`
  if (fault === null) return true
  const detail = `the control socket ${path} is not trusted: ${isOwn ? `in ${folder} ` : ''}${fault}. Run the command as the user that runs the server, or remove that file.`
  throw new Refusal(403, 'untrusted_socket', detail)
}

/** Why other users could create a socket in a folder; null if they cannot. */
function faultOfFolder(folder: Stats, owners: readonly number[]): string | null {
  if (!folder.isDirectory()) return 'it is not a folder'
  if (folder.uid !== ROOT && !owners.includes(folder.uid)) return `user ${folder.uid} owns the folder`
  return (folder.mode & WRITABLE_BY_OTHERS) === 0 ? null : 'other users can write (chmod go-w)'
}

function siblingSocketPath(real: string): string | null {
  const path = `${real}.sock`
  return Buffer.byteLength(path) <= MAX_PATH_LENGTH ? path : null
}

const privateFolder = (uid: number): string => join(tmpdir(), `windfall-${uid}`)
const nameFor = (real: string): string =>
  `${createHash('sha256').update(real).digest('hex').slice(0, 16)}.sock`
