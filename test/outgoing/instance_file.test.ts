import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openInstanceFile } from '../../src/outgoing/instance_file.ts'
import { folderOf } from '../processes.ts'

const ID = 'ins_0123456789abcdef'
const OTHER = 'ins_fedcba9876543210'
const MODULE = fileURLToPath(new URL('../../src/outgoing/instance_file.ts', import.meta.url))

test('servers that start at the same moment in one folder each find their line', {
  timeout: 60_000,
}, async () => {
  const folder = folderOf()
  const names = ['a', 'b', 'c', 'd'].flatMap((server) =>
    Array.from({ length: 50 }, (_, n) => `${server}${n}.db`),
  )
  const servers = ['a', 'b', 'c', 'd'].map(async (server) => {
    const own = names.filter((name) => name.startsWith(server)).map((name) => join(folder, name))
    const code = `
      const { openInstanceFile } = await import(${JSON.stringify(MODULE)})
      for (const file of ${JSON.stringify(own)}) await openInstanceFile(file).write(${JSON.stringify(ID)})`
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' })
    return new Promise((resolve) => child.once('close', resolve))
  })
  expect(await Promise.all(servers)).toEqual([0, 0, 0, 0])
  const found = names.map((name) => openInstanceFile(join(folder, name)).read())
  expect(found).toEqual(names.map(() => ID))
})

test('the last line of a database counts, also after a line that a crash cut off', async () => {
  const folder = folderOf()
  const [own, other] = [openInstanceFile(join(folder, 'a b.db')), openInstanceFile(join(folder, 'other.db'))]
  expect(own.read()).toBeNull()
  await own.write(ID)
  await other.write(ID)
  appendFileSync(join(folder, 'instance'), 'ins_0123456789abcdef a')
  await own.write(OTHER)
  expect([own.read(), other.read()]).toEqual([OTHER, ID])
  expect(readFileSync(join(folder, 'instance'), 'utf8')).toMatch(/^# Windfall recognizes/)
})

test('reads the file of an earlier version', () => {
  const folder = folderOf()
  writeFileSync(join(folder, 'instance'), `# comment\n${ID} windfall.db\n${OTHER} other.db\n`)
  expect(openInstanceFile(join(folder, 'windfall.db')).read()).toBe(ID)
})
