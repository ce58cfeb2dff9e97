import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { packTar } from 'modern-tar'
import { expect, test } from 'vitest'
import { type DecryptionKey, type Encryption, encrypt } from '../../../src/store/backup/archive/age.ts'
import { tailOf } from '../../../src/store/backup/archive/format.ts'
import { pack } from '../../../src/store/backup/archive/pack.ts'
import { backupKindOf, unpack } from '../../../src/store/backup/archive/unpack.ts'
import { temporaryFolder } from '../../folders.ts'

const MEGABYTE = 1_048_576

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

test('compresses, and zstd and tar open what it writes', async () => {
  const folder = temporaryFolder().path
  const text = Array.from({ length: 100_000 }, (_, index) => `a row with the number ${index}`).join('\n')
  writeFileSync(join(folder, 'rows'), text)
  const destination = join(folder, 'backup.tar.zst')
  const files = [{ name: 'windfall.db', path: 'data/windfall.db', source: join(folder, 'rows') }]
  const { bytes } = await pack(
    { destination, files, manifestFields, encryption: null },
    new AbortController().signal,
  )
  expect(bytes).toBeLessThan(text.length / 4)
  const tar = zstdDecompressSync(readFileSync(destination))
  expect(
    spawnSync('tar', ['xO', 'windfall.db'], { input: tar, encoding: 'utf8', maxBuffer: 10_000_000 }).stdout,
  ).toBe(text)
  const digest = createHash('sha256').update(tar.subarray(0, -2048)).digest('hex')
  expect(spawnSync('tar', ['xO', 'sha256'], { input: tar, encoding: 'utf8' }).stdout).toBe(`${digest}\n`)
})

test.each([null, { passphrase: 'correct horse battery' }])(
  'unpacks an archive that is not compressed, as earlier versions wrote it, encrypted with %j',
  async (encryption) => {
    const { archive, large } = await packed(null, 300_000)
    const tar = zstdDecompressSync(readFileSync(archive))
    const chunks = async function* () {
      yield tar
    }
    const whole: Uint8Array[] = []
    for await (const chunk of encryption === null ? chunks() : await encrypt(chunks(), encryption))
      whole.push(chunk)
    const earlier = join(temporaryFolder().path, 'windfall-2026-11-01T030500Z.tar')
    writeFileSync(earlier, Buffer.concat(whole))
    expect(backupKindOf(earlier)).toBe(encryption === null ? 'archive' : 'encrypted with a passphrase')
    const { folder, manifest } = await intoEmpty(earlier, encryption)
    expect(manifest).toMatchObject(manifestFields)
    expect(readFileSync(join(folder, 'windfall.db')).equals(large)).toBe(true)
  },
)

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
    (copy: Buffer) => copy.subarray(0, copy.length / 2),
    (copy: Buffer) => Buffer.concat([copy, Buffer.alloc(512)]),
    (copy: Buffer) => Buffer.concat([copy.subarray(0, -4), Buffer.alloc(512), copy.subarray(-4)]),
  ])
    await expect(damaged(change)).rejects.toMatchObject({ code: 'damaged_backup' })
})

test('refuses an archive with an unexpected entry', async () => {
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

/** A compressed archive of one file of zeros, and of zeros after its end. */
async function zeros({ name = 'windfall.db', size = 0, after = 0 }) {
  const tar = Buffer.from(await packTar([{ header: { name, size }, body: Buffer.alloc(size) }]))
  const content = Buffer.concat([tar.subarray(0, -1024), Buffer.alloc(after)])
  const digest = createHash('sha256').update(content).digest('hex')
  const archive = join(temporaryFolder().path, 'zeros.tar.zst')
  writeFileSync(archive, zstdCompressSync(Buffer.concat([content, await tailOf(digest)])))
  return archive
}

test.each([
  ['of a large database', { size: 64 * MEGABYTE }, 'no_room'],
  ['that goes on after its end', { size: 1, after: 64 * MEGABYTE }, 'no_room'],
  ['of a large key file', { name: 'files/1', size: 17 * MEGABYTE }, 'damaged_backup'],
])('unpacks a small archive %s only as far as there is room', async (_, content, code) => {
  const archive = await zeros(content)
  expect(statSync(archive).size).toBeLessThan(MEGABYTE)
  const folder = temporaryFolder().path
  const unpacking = unpack(archive, folder, null, () => 60 * MEGABYTE)
  await expect(unpacking).rejects.toMatchObject({ code })
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    statSync(join(folder, name)),
  )
  expect(files.filter((file) => file.isFile()).every(({ size }) => size <= 1)).toBe(true)
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
