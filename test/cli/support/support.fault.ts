/** The command `windfall support` without a server, which asks Apple's own hosts for the time. */
import { readFileSync } from 'node:fs'
import { unpackTar } from 'modern-tar'
import { expect, test } from 'vitest'
import { folderOf, run } from '../../processes.ts'

test('without a server the bundle has the checks of the command itself', async () => {
  const env = { WINDFALL_BASE_URL: 'http://127.0.0.1:1' }
  const { status, stdout } = await run(['support', 'b.tar', '--json'], { cwd: folderOf(), env })
  expect(status).toBe(0)
  const { file, contents } = JSON.parse(stdout) as { file: string; contents: object[] }
  expect(contents).toHaveLength(7)
  const entries = await unpackTar(readFileSync(file))
  const textOf = (name: string) =>
    Buffer.from(entries.find(({ header }) => header.name === name)?.data ?? []).toString()
  expect(textOf('doctor.json')).toContain('No server runs with ')
  expect(JSON.parse(textOf('process.json')).server).toBeNull()
  expect(JSON.parse(textOf('database.json')).rows).toBeNull()
})
