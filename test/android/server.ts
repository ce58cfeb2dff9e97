/** A real Windfall in a process of its own, behind a network that fails on request. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { closedAtEnd } from '../closing.ts'
import { folderOf, startServing } from '../processes.ts'
import { openNetwork } from '../sdk/weather.ts'

/** An app with the same id on both systems, and one with two ids. */
export const SAME = 'com.example.lantern'
export const IOS = 'com.example.torch'
export const ANDROID = 'com.example.torch.android'

const CONFIG = `[[apps]]
bundle_id = "${SAME}"
[[apps]]
bundle_id = "${IOS}"
android_package = "${ANDROID}"
`

type Row = Record<string, unknown>

export async function openServer() {
  const cwd = folderOf({ 'config.toml': CONFIG })
  const serving = await startServing({ cwd })
  const network = await openNetwork(serving.port)
  const database = new Database(join(cwd, 'data/windfall.db'), { readonly: true })
  closedAtEnd({
    async close() {
      database.close()
      serving.kill('SIGKILL')
      await serving.ended
    },
  })

  /** The users and their purchases, with the bundle id of their app. */
  const users = (): Row[] =>
    rows(`select bundle_id, app_user_id, platform, device_model, attributes
    from users join apps on apps.id = users.app_id where app_user_id not like '$anon_%' order by users.id`)
  const purchases = (): Row[] =>
    rows(`select bundle_id, store, transaction_id, product_id, app_user_id
    from links join apps on apps.id = links.app_id order by links.id`)
  const rows = (sql: string): Row[] => database.prepare<[], Row>(sql).all()

  return { url: network.url, network, users, purchases }
}
