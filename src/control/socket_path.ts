/** Where the control socket lies, and which socket a command may trust. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Refusal } from '../errors.ts'
import { realPathOf, statsAt } from '../store/disk/paths.ts'

/** Unix sockets have short names: 104 bytes on macOS. */
const MAX_PATH_LENGTH = 100
const ROOT = 0
/** Write permission for anybody but the owner. */
const WRITABLE_BY_OTHERS = 0o022

const ownUid = (): number => process.geteuid?.() ?? ROOT

/**
 * Where the process that serves `databaseFile` listens: beside the file, or, where that path is too long for a socket or
 * others can write the folder, in a folder of this user's (0700) in the folder for temporary files.
 *
 * @throws Refusal 409 `untrusted_folder` when another user made that folder, or can write it.
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
    const detail = `the control socket cannot lie in ${folder}: ${fault}; remove that folder, or set TMPDIR to one of your own`
    throw new Refusal(409, 'untrusted_folder', detail)
  }
  return join(folder, nameFor(real))
}

/**
 * The sockets at which the process that serves `databaseFile` may listen, those that exist. A socket counts only when
 * this user owns it, or, for root, when the owner of the database file does, in a folder that nobody else can write.
 *
 * @throws Refusal 403 `untrusted_socket` when one exists that does not count.
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
    : `it is not a socket of this user's (its owner is user ${socket.uid})`
  if (fault === null) return true
  const detail = `the control socket ${path} is not trusted: ${isOwn ? `in ${folder} ` : ''}${fault}. Run the command as the user who serves the database, or remove what is there.`
  throw new Refusal(403, 'untrusted_socket', detail)
}

/** Why others could put a socket into a folder; null where they cannot. */
function faultOfFolder(folder: Stats, owners: readonly number[]): string | null {
  if (!folder.isDirectory()) return 'what is there is not a folder'
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
