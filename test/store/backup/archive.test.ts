import { randomBytes } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { packTar } from 'modern-tar'
import { expect, test } from 'vitest'
import type { DecryptionKey, Encryption } from '../../../src/store/backup/archive/age.ts'
import { tailOf } from '../../../src/store/backup/archive/format.ts'
import { pack } from '../../../src/store/backup/archive/pack.ts'
import { backupKindOf, unpack } from '../../../src/store/backup/archive/unpack.ts'
import { temporaryFolder } from '../../folders.ts'

const manifestFields = {
  format: 'windfall backup 1' as const,
  windfall: '0.1.0',
  database_version: 1,
  created_at: Date.UTC(2026, 2, 3),
  rows: { settings: 2 },
  not_included: ['WINDFALL_LOG_LEVEL'],
}

/** An archive of a large file and a small one. */
async function packed(encryption: Encryption | null = null, size = 1_500_000) {
  const folder = temporaryFolder().path
  const large = randomBytes(size)
  writeFileSync(join(folder, 'large'), large)
  const destination = join(folder, 'backup.tar')
  const files = [
    { name: 'windfall.db', path: 'data/windfall.db', source: join(folder, 'large') },
    { name: 'files/1', path: '/etc/keys/a.p8', bytes: Buffer.from('a key') },
  ]
  const made = await pack({ destination, files, manifestFields, encryption }, new AbortController().signal)
  return { archive: destination, large, made }
}

const intoEmpty = (archive: string, key: DecryptionKey | null = null) => {
  const folder = temporaryFolder().path
  return unpack(archive, folder, key).then((manifest) => ({ manifest, folder }))
}

test('unpacks every byte and the manifest', async () => {
  const { archive, large, made } = await packed()
  expect(statSync(archive).mode & 0o777).toBe(0o600)
  expect(made.bytes).toBe(statSync(archive).size)
  expect(backupKindOf(archive)).toBe('archive')
  const { manifest, folder } = await intoEmpty(archive)
  expect(readFileSync(join(folder, 'windfall.db')).equals(large)).toBe(true)
  expect(readFileSync(join(folder, 'files/1'), 'utf8')).toBe('a key')
  expect(manifest).toMatchObject(manifestFields)
  expect(manifest.entries.map(({ name, path }) => [name, path])).toEqual([
    ['windfall.db', 'data/windfall.db'],
    ['files/1', '/etc/keys/a.p8'],
  ])
})

test('refuses an archive with a flipped, missing or added byte', async () => {
  const { archive } = await packed(null, 3_000)
  const bytes = readFileSync(archive)
  const damaged = (change: (copy: Buffer) => Buffer) => {
    const file = join(temporaryFolder().path, 'damaged.tar')
    writeFileSync(file, change(Buffer.from(bytes)))
    return intoEmpty(file)
  }
  for (let at = 0; at < bytes.length; at += 61)
    await expect(
      damaged((copy) => {
        copy[at] = (copy[at] ?? 0) ^ 1
        return copy
      }),
    ).rejects.toMatchObject({ code: 'damaged_backup' })
  for (const change of [
    (copy: Buffer) => copy.subarray(0, -512),
    (copy: Buffer) => copy.subarray(0, 5_000),
    (copy: Buffer) => Buffer.concat([copy, Buffer.alloc(512)]),
  ])
    await expect(damaged(change)).rejects.toMatchObject({ code: 'damaged_backup' })
})

test('refuses an archive with an unexpected entry', async () => {
  const { createHash } = await import('node:crypto')
  for (const header of [
    { name: '../windfall.db', size: 1 },
    { name: 'files/../../x', size: 1 },
    { name: 'windfall.db', size: 0, type: 'symlink' as const, linkname: '/etc/passwd' },
  ]) {
    const body = header.size === 0 ? null : 'x'
    const whole = Buffer.from(await packTar([{ header, body }])).subarray(0, -1024)
    const digest = createHash('sha256').update(whole).digest('hex')
    const file = join(temporaryFolder().path, 'crafted.tar')
    writeFileSync(file, Buffer.concat([whole, await tailOf(digest)]))
    await expect(intoEmpty(file)).rejects.toThrow(/it contains an unexpected entry/)
  }
})

test('decrypts for a recipient only with the identity', async () => {
  const [identities, other] = [await generateIdentity(), await generateIdentity()]
  const recipients = [await identityToRecipient(identities)]
  const { archive, large } = await packed({ recipients })
  expect(backupKindOf(archive)).toBe('encrypted for recipients')
  const { folder } = await intoEmpty(archive, { identities: `# created: today\n${identities}\n` })
  expect(readFileSync(join(folder, 'windfall.db')).equals(large)).toBe(true)
  await expect(intoEmpty(archive, { identities: other })).rejects.toMatchObject({ code: 'wrong_key' })
  const bytes = readFileSync(archive)
  bytes[700_000] = (bytes[700_000] ?? 0) ^ 1
  writeFileSync(archive, bytes)
  await expect(intoEmpty(archive, { identities })).rejects.toMatchObject({ code: 'damaged_backup' })
})

test('decrypts only with the correct passphrase', async () => {
  const { archive } = await packed({ passphrase: 'correct horse battery' }, 100)
  expect(backupKindOf(archive)).toBe('encrypted with a passphrase')
  await expect(intoEmpty(archive, { passphrase: 'correct horse' })).rejects.toMatchObject({
    code: 'wrong_key',
  })
  expect((await intoEmpty(archive, { passphrase: 'correct horse battery' })).manifest).toMatchObject(
    manifestFields,
  )
})

test('refuses a file that is not a backup', () => {
  const file = join(temporaryFolder().path, 'picture.png')
  writeFileSync(file, randomBytes(2_000))
  expect(() => backupKindOf(file)).toThrow('is neither a Windfall backup nor a database')
})
