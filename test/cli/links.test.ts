/** `windfall links import`: files of several origins, faults by line, and interrupted imports. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openCsvParser, recordsOf } from '../../src/cli/links/csv_reader.ts'
import { openControl } from '../../src/control/socket.ts'
import { verbsOf } from '../../src/control/verbs.ts'
import { BUNDLE } from '../apple/samples.ts'
import { closedAtEnd } from '../closing.ts'
import { temporaryFolder } from '../folders.ts'
import { openTestApp } from '../helpers.ts'
import { folderOf, run } from '../processes.ts'
import { runs } from '../random.ts'

const HEADER = 'app,app_user_id,original_transaction_id,attributes'

/** A server, and a function that writes a file and imports it. */
async function openImporting() {
  const app = await openTestApp()
  const control = await openControl(app.config.store.path, verbsOf(app.windfall), app.windfall.log)
  closedAtEnd(control)
  const cwd = folderOf({ 'config.toml': `[store]\npath = "${app.config.store.path}"\n` })
  const links = (...args: string[]) => run(['links', 'import', ...args], { cwd })
  function write(name: string, text: string | Uint8Array): string {
    writeFileSync(join(cwd, name), text)
    return name
  }
  const rows = () =>
    app.windfall.store
      .prepare('select transaction_id, app_user_id from links order by transaction_id')
      .raw()
      .all()
  return { app, control, cwd, links, write, rows }
}

test('imports Windfall’s columns and names the line of each fault', async () => {
  const { links, write, rows, app } = await openImporting()
  const file = write(
    'links.csv',
    [
      `\uFEFF${HEADER}`,
      `${BUNDLE},ann,1,"{""plan"": ""pro"",\n""note"": ""a, b""}"`,
      `${BUNDLE},bob,2,`,
      '',
      `com.example.none,cid,3,`,
      `${BUNDLE},dora,4,not json`,
    ].join('\r\n'),
  )
  const judged = await links(file, '--dry-run')
  expect(judged).toMatchObject({ status: 1, stdout: expect.stringContaining('would link 2 purchases') })
  expect(rows()).toEqual([])
  const imported = await links(file)
  expect(imported.stdout).toBe('links.csv (Windfall): linked 2 purchases, 0 moved, 0 unchanged, 2 refused.\n')
  expect(imported.stderr).toContain('line 6: no app with the bundle id com.example.none is connected')
  expect(imported.stderr).toContain('line 7: attributes: must be an object')
  expect(imported.status).toBe(1)
  expect(rows()).toEqual([
    ['1', 'ann'],
    ['2', 'bob'],
  ])
  expect(app.windfall.store.prepare('select attributes from users').pluck().all()).toEqual([
    '{"plan":"pro","note":"a, b"}',
  ])
  expect(await links(file)).toMatchObject({ status: 1, stderr: expect.stringContaining('add --again') })
  const again = await links(file, '--again', '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ linked: 0, unchanged: 2, refused: 2 })
})

test('imports exports of RevenueCat and Adapty, and other columns', async () => {
  const { links, write, rows } = await openImporting()
  const header =
    'rc_original_app_user_id;rc_last_seen_app_user_id_alias;store;is_sandbox;original_store_transaction_id;custom_subscriber_attributes'
  const attributes = '"{""plan"": {""value"": ""pro"", ""updated_at_ms"": 1}}"'
  const lines = [
    `a;ann;app_store;false;11;${attributes}`,
    'b;$RCAnonymousID:87c6;app_store;false;12;',
    'c;cid;play_store;false;GPA.1;',
    'd;dora;app_store;true;13;',
  ]
  const revenuecat = write('rc.csv.gz', gzipSync([header, ...lines].join('\n')))
  const result = JSON.parse((await links(revenuecat, '--app', BUNDLE, '--json')).stdout)
  expect(result).toMatchObject({
    format: 'RevenueCat',
    linked: 1,
    skipped: { no_user: 1, other_store: 1, sandbox: 1 },
  })
  const adapty = write(
    'adapty.csv',
    'profile_id,customer_user_id,original_transaction_id,store,environment\np1,bob,21,app_store,Production\np2,,22,app_store,Production\n',
  )
  expect((await links(adapty, '--app', BUNDLE)).stdout).toContain('(Adapty): linked 1 purchase')
  const other = write('other.csv', 'customer,first_id\nemma,31\n')
  const map = '--map=app_user_id=customer,original_transaction_id=first_id'
  expect(await links(other, map, '--app', BUNDLE)).toMatchObject({ status: 0 })
  expect(rows()).toEqual([
    ['11', 'ann'],
    ['21', 'bob'],
    ['31', 'emma'],
  ])
})

test('the dry run counts what the import does, also for several rows of a purchase in different parts', async () => {
  const { links, write } = await openImporting()
  // Each part has 500 rows. 300 purchases are renewed twice, and each tenth then belongs to another user.
  const renewals = Array.from({ length: 900 }, (_, index) => `user-${index % 300},${(index % 300) + 1}`)
  const moves = Array.from({ length: 30 }, (_, index) => `other-${index},${index * 10 + 1}`)
  const text = ['app_user_id,original_transaction_id', ...renewals, ...moves].join('\n')
  const file = write('renewals.csv', text)
  const judged = await links(file, '--app', BUNDLE, '--dry-run')
  const counts = '300 purchases, 30 moved, 600 unchanged, 0 refused.'
  expect(judged.stdout).toBe(`renewals.csv (Windfall): would link ${counts}\n`)
  expect((await links(file, '--app', BUNDLE)).stdout).toBe(`renewals.csv (Windfall): linked ${counts}\n`)
})

test('says once that a file without bundle ids needs --app', async () => {
  const { links, write, rows } = await openImporting()
  const files = [
    'store,is_sandbox,rc_last_seen_app_user_id_alias,original_store_transaction_id\napp_store,false,ann,1\n',
    'store,environment,customer_user_id,original_transaction_id\napp_store,Production,ann,1\n',
    'app_user_id,original_transaction_id\nann,1\n',
  ]
  for (const [index, text] of files.entries()) {
    const ended = await links(write(`without-${index}.csv`, text), '--dry-run')
    expect(ended).toMatchObject({
      status: 2,
      stderr: 'the file does not name the app of its rows: add --app BUNDLE\n',
    })
  }
  expect(rows()).toEqual([])
})

test('names the line of a quote that is not closed, and of a row with more cells than the header', async () => {
  const { links, write, rows } = await openImporting()
  const open = write('open.csv', `${HEADER}\n${BUNDLE},ann,1,\n${BUNDLE},"bob,2,\n${BUNDLE},cid,3,\n`)
  expect(await links(open)).toMatchObject({
    status: 1,
    stderr: 'line 3: a quote is not closed, so the rest of the file would be one cell\n',
  })
  const wide = write('wide.csv', `${HEADER}\n${BUNDLE},ann,1,,,\n${BUNDLE},bob,2,,3\n${BUNDLE},cid,4,\n`)
  for (const args of [['--dry-run'], []])
    expect(await links(wide, ...args)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('2 purchases, 0 moved, 0 unchanged, 1 refused.'),
      stderr: '2 rows, 1 fault\nline 3: the row has 5 cells, and the header 4\n',
    })
  expect(rows()).toEqual([
    ['1', 'ann'],
    ['4', 'cid'],
  ])
})

async function linesOf(file: string): Promise<number[]> {
  const lines: number[] = []
  for await (const { line } of recordsOf(file)) lines.push(line)
  return lines
}

test('a truncated .gz is refused each time', async () => {
  const { path } = temporaryFolder()
  const file = join(path, 'links.csv.gz')
  const bytes = gzipSync(Array.from({ length: 40 }, (_, index) => `user-${index},${index}`).join('\n'))
  for (let size = 1; size < bytes.length - 8; size += 1) {
    writeFileSync(file, bytes.subarray(0, size))
    await expect(linesOf(file)).rejects.toMatchObject({
      code: 'invalid_file',
      message: `${file}: unexpected end of file`,
    })
  }
})

test('refuses what it cannot read, and imports nothing of it', async () => {
  const { links, write, rows, cwd } = await openImporting()
  const cases: [file: string, args: string[], words: string, code?: number][] = [
    ['missing.csv', [], 'cannot be read'],
    [write('empty.csv', ''), [], 'the file is empty'],
    [write('header.csv', 'a,b\n1,2\n'), [], 'Columns found: a, b'],
    [write('latin.csv', Buffer.from([0x61, 0xff, 0x0a])), [], 'not UTF-8'],
    [write('plain.csv.gz', 'a,b\n'), [], 'incorrect header check'],
    [write('map.csv', 'a,b\n1,2\n'), ['--map', 'app_user_id=c'], 'no column c'],
    [write('pair.csv', 'a,b\n1,2\n'), ['--map', 'user=a'], '--map takes pairs', 2],
    [write('org.csv', `${HEADER}\n${BUNDLE},ann,1,\n`), ['--organization', 'none'], 'no organization none'],
  ]
  for (const [file, args, words, code = 1] of cases) {
    const { status, stderr } = await links(file, ...args)
    expect([file, status, stderr]).toEqual([file, code, expect.stringContaining(words)])
  }
  expect(rows()).toEqual([])
  expect(cwd).toBeTruthy()
})

test('continues an import that was interrupted', async () => {
  const { links, write, app, rows, control } = await openImporting()
  const all = Array.from({ length: 1_200 }, (_, index) => `${BUNDLE},user-${index},${index + 1},`)
  const file = write('long.csv', [HEADER, ...all].join('\n'))
  // The command loses the server while its second part is imported.
  await control.close()
  const verbs = verbsOf(app.windfall)
  const addRows = verbs['links.import.rows']
  let parts = 0
  const losing = await openControl(
    app.config.store.path,
    {
      ...verbs,
      'links.import.rows': async (args) => {
        parts += 1
        if (parts === 2) await losing.close()
        return addRows?.(args)
      },
    },
    app.windfall.log,
  )
  expect((await links(file)).status).toBe(1)
  closedAtEnd(await openControl(app.config.store.path, verbs, app.windfall.log))
  const { stdout, status } = await links(file)
  expect([stdout, status]).toEqual([
    'Continued after 1,000 rows that an earlier run had imported.\n' +
      'long.csv (Windfall): linked 1,200 purchases, 0 moved, 0 unchanged, 0 refused.\n',
    0,
  ])
  expect(rows()).toHaveLength(1_200)
})

test('two imports of one file at once import each row once', async () => {
  const { links, write, rows } = await openImporting()
  const all = Array.from({ length: 1_500 }, (_, index) => `${BUNDLE},user-${index},${index + 1},`)
  const file = write('twice.csv', [HEADER, ...all].join('\n'))
  const ended = await Promise.all([links(file), links(file)])
  expect(ended.some(({ status }) => status === 0)).toBe(true)
  expect(rows()).toHaveLength(1_500)
})

test('reads CSV in any pieces', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', '\r\n', ' b') })
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 }),
      fc.integer({ min: 1, max: 9 }),
      (records, size) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
        const text = `x,y\n${records.map((cells) => cells.map(quoted).join(',')).join('\r\n')}`
        const parser = openCsvParser()
        const read = []
        for (let at = 0; at < text.length; at += size) read.push(...parser.push(text.slice(at, at + size)))
        read.push(...parser.end())
        expect(read.slice(1).map(({ cells }) => cells)).toEqual(records)
      },
    ),
    runs(100, 2_000),
  )
})
