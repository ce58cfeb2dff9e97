/** `node tools/sdk/write.ts`: writes the generated types of `windfall-sdk/server`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApp } from '../../src/app.ts'
import { systemClocks } from '../../src/clock.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openLog } from '../../src/log.ts'
import { at } from '../bundle.mjs'
import { generatedFiles, type OpenApiDocument } from './server_types.ts'

const folder = mkdtempSync(join(tmpdir(), 'windfall-sdk-'))
const { config } = loadConfig({ env: {}, cwd: folder })
const log = openLog({ format: 'pretty', level: 'error', write: () => {} })
const windfall = await openApp({ config, ...systemClocks, log })
try {
  const answer = await windfall.http.app.request('/api/openapi.json')
  const document = (await answer.json()) as OpenApiDocument
  for (const { file, text } of generatedFiles(document)) writeFileSync(at(file), text)
} finally {
  await windfall.close()
  rmSync(folder, { recursive: true, force: true })
}
