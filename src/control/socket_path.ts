/** The path of the control socket, and the checks that make a socket trusted. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Refusal } from '../errors.ts'
import { realPathOf, statsAt } from '../store/disk/paths.ts'

/** The maximum length of the socket's path. macOS allows 104 bytes. */
const MAX_PATH_BYTES = 100
const ROOT = 0
/** Write permission for the group or others. */
const WRITABLE_BY_OTHERS = 0o022

const ownUid = (): number => process.geteuid?.() ?? ROOT

/**
 * The path of the socket at which the server of `databaseFile` listens. The socket is next to the database. If that
 * path is too long or other users can write to the folder, the socket is in a private folder (mode 0700) within the
 * folder for temporary files.
 *
 * @throws Refusal 409 `untrusted_folder` if another user owns the private folder or can write to it.
 */
export function listenPath(databaseFile: string): string {
  const realFile = realPathOf(databaseFile)
  const siblingPath = siblingSocketPath(realFile)
  const uid = ownUid()
  if (siblingPath !== null && faultOfFolder(lstatSync(dirname(realFile)), [uid]) === null) return siblingPath
  const folder = privateFolder(uid)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fault = faultOfFolder(lstatSync(folder), [uid])
  if (fault !== null) {
    const detail = `the control socket cannot be created in ${folder}: ${fault}; remove that folder, or set TMPDIR to a folder that only you can write to`
    throw new Refusal(409, 'untrusted_folder', detail)
  }
  return join(folder, socketName(realFile))
}

/**
 * The paths of the existing sockets at which the server of `databaseFile` may listen. A socket is trusted only if this
 * user owns it and no other user can write to its folder. For root, the owner of the database is also trusted.
 *
 * @throws Refusal 403 `untrusted_socket` if an existing socket is not trusted.
 */
export function* candidatePaths(databaseFile: string): Generator<string> {
  const realFile = realPathOf(databaseFile)
  const trustedUids = trustedUidsFor(realFile)
  const privatePaths = trustedUids.map((uid) => join(privateFolder(uid), socketName(realFile)))
  const siblingPath = siblingSocketPath(realFile)
  for (const path of [...(siblingPath === null ? [] : [siblingPath]), ...privatePaths]) {
    if (hasTrustedSocket(path, trustedUids)) yield path
  }
}

function trustedUidsFor(realFile: string): number[] {
  const uid = ownUid()
  const owner = uid === ROOT ? statsAt(realFile)?.uid : undefined
  return [...new Set([uid, owner ?? uid])]
}

/** Whether a socket exists at `path`. @throws Refusal 403 `untrusted_socket` if it is not trusted. */
function hasTrustedSocket(path: string, trustedUids: readonly number[]): boolean {
  const socket = statsAt(path)
  if (socket === null) return false
  const isOwnSocket = socket.isSocket() && trustedUids.includes(socket.uid)
  const folder = dirname(path)
  const fault = isOwnSocket
    ? faultOfFolder(lstatSync(folder), trustedUids)
    : `it is not a socket of this user (its owner is user ${socket.uid})`
  if (fault === null) return true
  const detail = `the control socket ${path} is not trusted: ${isOwnSocket ? `in ${folder} ` : ''}${fault}. Run the command as the user that runs the server, or remove that file.`
  throw new Refusal(403, 'untrusted_socket', detail)
}

/** The reason why other users could create a socket in a folder; null if they cannot. */
function faultOfFolder(folder: Stats, trustedUids: readonly number[]): string | null {
  if (!folder.isDirectory()) return 'it is not a folder'
  if (folder.uid !== ROOT && !trustedUids.includes(folder.uid)) return `user ${folder.uid} owns the folder`
  return (folder.mode & WRITABLE_BY_OTHERS) === 0 ? null : 'other users can write (chmod go-w)'
}

/** The path of a socket next to the database; null if that path is too long. */
function siblingSocketPath(realFile: string): string | null {
  const path = `${realFile}.sock`
  return Buffer.byteLength(path) <= MAX_PATH_BYTES ? path : null
}

const privateFolder = (uid: number): string => join(tmpdir(), `windfall-${uid}`)
const socketName = (realFile: string): string =>
  `${createHash('sha256').update(realFile).digest('hex').slice(0, 16)}.sock`
